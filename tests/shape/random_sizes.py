"""Random symbols and expressions, each with a plain function that computes its value."""

from collections.abc import Callable
from math import inf
from random import Random

from irshape.shape.dim import Scope, Size, ceil_div, dim_max, dim_min
from irshape.shape.limits import DEFAULT, Limits

Values = dict[str, int]
Meaning = Callable[[Values], int]


class RandomSizes:
    """A scope with one to three symbols of random ranges, and random expressions of them."""

    def __init__(self, seed: int, limits: Limits = DEFAULT) -> None:
        self.random = Random(seed)
        self.scope = Scope(limits)
        self.symbols: dict[str, Size] = {}
        self.ranges: dict[str, list[int]] = {}
        random = self.random
        for name in "abc"[: random.randint(1, 3)]:
            low, modulus = random.randint(0, 4), random.choice([1, 1, 1, 2, 3, 4])
            high = random.choice([low + random.randint(4, 12), inf, inf])
            remainder = random.randrange(modulus)
            self.symbols[name] = self.scope.symbol(name, low, high, modulus, remainder)
            self.ranges[name] = [value for value in range(low, int(min(high, low + 40)) + 1) if value % modulus == remainder]

    def values(self) -> Values:
        return {name: self.random.choice(range_) for name, range_ in self.ranges.items()}

    def expression(self, depth: int) -> tuple[Meaning, Size]:
        random = self.random
        if depth == 0 or random.random() < 0.15:
            if random.random() < 0.25:
                constant = random.randint(-6, 9)
                return lambda values: constant, constant
            name = random.choice(list(self.symbols))
            return lambda values: values[name], self.symbols[name]
        operation = random.choice(["+", "-", "scale", "*", "//", "//", "%", "min", "max", "ceil", "//form"])
        f, x = self.expression(depth - 1)
        if operation in ("scale", "//", "%", "ceil"):
            constant = random.randint(-4, 5) if operation == "scale" else random.randint(1, 6) * random.choice([1, 1, 1, -1])
            if operation == "scale":
                return lambda values: f(values) * constant, x * constant
            if operation == "//":
                return lambda values: f(values) // constant, x // constant
            if operation == "%":
                return lambda values: f(values) % constant, x % constant
            return lambda values: -(-f(values) // abs(constant)), ceil_div(x, abs(constant))
        g, y = self.expression(min(1, depth - 1) if operation in ("*", "//form") else depth - 1)
        if operation == "+":
            return lambda values: f(values) + g(values), x + y
        if operation == "-":
            return lambda values: f(values) - g(values), x - y
        if operation == "*":
            return lambda values: f(values) * g(values), x * y
        if operation == "//form":
            divisor = dim_max(y, 1)
            return lambda values: f(values) // max(g(values), 1), x // divisor
        if operation == "min":
            return lambda values: min(f(values), g(values)), dim_min(x, y)
        return lambda values: max(f(values), g(values)), dim_max(x, y)
