"""The user's shapes for the inputs of a model."""

class InputError(ValueError):
    pass

def apply_inputs(engine, inputs, symbols):
    from irshape.shape.notation import parse_parameter_shape
    by={n.name:n for n in engine.model.parameters}
    for n in engine.model.parameters:
        for p in n.layer.outputs:
            for t in (p.names or "").split(","):
                by.setdefault(t.strip(), n)
    for name,s in inputs.items():
        if name not in by: raise InputError(name)
        sh,_=parse_parameter_shape(s); n=by[name]
        engine.shapes[n.index]=None if sh is None else tuple(engine.scope.unknown((n.first_slot,"in",i),lo,hi) for i,(lo,hi) in enumerate(sh))
