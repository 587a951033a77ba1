"""Shapes as text."""
from math import inf
from typing import Any, NamedTuple
class Described(NamedTuple):
    low: float
    high: float
    name: str = ""
    factor: int = 1
    offset: int = 0
class NotationError(ValueError): pass
DescribedShape = tuple[Described, ...] | None
def parse_parameter_shape(text: str) -> Any:
    text=text.strip().removeprefix("[").removesuffix("]").strip()
    if text=="...": return None, ()
    if not text: return (), ()
    out=[]
    for t in text.split(","):
        t=t.strip()
        try:
            if t in("?","-1",".."): out.append(Described(0,inf))
            elif ".." in t:
                a,b=t.split("..",1); out.append(Described(max(int(a or 0),0), inf if b in("","-1") else int(b)))
            else: out.append(Described(*(max(0,int(t)),)*2))
        except ValueError: raise NotationError(text)
    return tuple(out), ()
