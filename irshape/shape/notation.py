from typing import TypeAlias, Any
Interval: TypeAlias = tuple[int, float]
class ShapeSyntaxError(ValueError): pass
def parse_parameter_shape(text: str) -> Any:
    text=text.strip().removeprefix("[").removesuffix("]").strip()
    if text=="...": return None, ()
    if not text: return (), ()
    out=[]
    inf=float("inf")
    for t in text.split(","):
        t=t.strip()
        try:
            if t in("?","-1",".."): out.append((0,inf))
            elif ".." in t:
                a,b=t.split("..",1); out.append((max(int(a or 0),0), inf if b in("","-1") else int(b)))
            else: out.append((max(0,int(t)),)*2)
        except ValueError: raise ShapeSyntaxError(text)
    return tuple(out), ()
