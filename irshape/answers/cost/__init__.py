"""What a model costs: operations, parameters, memory and traffic, as numbers or as formulas of the input sizes."""
