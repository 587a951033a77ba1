"""The bytes of the constants against the weights: whether these are the weights that were written together with the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from irshape.model.build import place
from irshape.report.diagnostic import ERROR, Diagnostic, Where
from irshape.report.text import counted
from irshape.xml.document import Document, Layer, LayerSignature
from irshape.xml.lexical import own_offset
from irshape.xml.weights import Weights, WeightsError

# The bytes of weights that tell whether the ends of lines were changed; more are read only where the first ones hold no byte 10.
_TOLD = (1 << 12, 1 << 20)


# Where the bytes of a constant begin and end, its layer, and the path of its body.
_Stored: TypeAlias = tuple[int, int, Layer, str]


def check_stored(document: Document, weights: Weights | None) -> list[Diagnostic]:
    """W201 for weights that are longer than the constants need, W202 for each constant that overlaps another one in part.

    OpenVINO writes constants one after the other, those with equal bytes once, and nothing behind the last one. A tool that empties the
    weights puts constants of every size at one offset, so constants that begin at the same byte do not count as overlapping.
    """
    if weights is None:
        return []
    # The order of the layers in the file does not decide which of several constants with the same bytes is named.
    stored = sorted(constants(document), key=lambda one: (one[0], one[1], one[2].id))
    if not stored:
        return []
    try:
        found = [*_surplus(document, weights, max([end for _, end, _, _ in stored]))]
    except WeightsError:
        return []  # the first constant that is read reports it
    before = 0  # the end of the constants before the pair
    for one, other in pairwise(stored):
        (start, end, _, _), (at, _, _, _) = one, other
        is_told = start < before <= at  # the first of the pair overlaps the constant before it, and is the one at fault
        if not is_told:
            is_moved = before < start and start - before == end - at  # the first of the pair leaves a gap as long as the overlap
            last, before = before, max(before, end)
            if start < at < end:
                meant = f'did you mean offset="{last}"? No constant has the bytes from there on'
                found.append(_overlap(document, other, one, meant) if is_moved else _overlap(document, one, other))
    return found


def _overlap(document: Document, one: _Stored, other: _Stored, meant: str | None = None) -> Diagnostic:
    """The fault of a constant, the second one given, that overlaps another one in part."""
    (start, end, first, path), (at, last, second, its_path) = one, other
    message = f"bytes {at} to {last} overlap bytes {start} to {end} of the constant {first.name!r} in part"
    spots = [
        place(document, layer, document.attribute_offset(layer.data_offset, "offset"), path=own)
        for layer, own in ((second, its_path), (first, path))
    ]
    return Diagnostic("W202", message, spots[0], hint=meant, related=(spots[1],))


def last_end(document: Document, most: int) -> int:
    """The end of the last constant that ends at byte `most` or before; 0 if there is none."""
    return max((end for _, end, _, _ in constants(document) if end <= most), default=0)


def constants(document: Document) -> Iterator[_Stored]:
    """Where the bytes of each constant begin and end, with its layer and the path of its body."""
    for path, graph in document.graphs():
        sizes: dict[LayerSignature, int] = {}
        for layer in graph.layers:
            if (at := layer.weights_at) is not None:
                size = sizes.get(layer.signature)
                if size is None:
                    size = sizes[layer.signature] = own_offset(layer.signature.attributes.get("size", "")) or 0
                if size:
                    yield at, at + size, layer, path


def _surplus(document: Document, weights: Weights, end: int) -> Iterator[Diagnostic]:
    """W201 if weights are longer than the constants."""
    if weights.total <= end:
        return
    named = "" if weights.path is None else f" {weights.path!r}"
    where = place(document, None, document.graph.offset)
    if (format := weights.format()) is not None:
        yield Diagnostic("W201", f"the weights{named} are {format.name}, not the .bin of an IR", where, hint=format.hint)
        return
    if _has_other_line_ends(weights, weights.total - end):
        message = f"the weights{named} were copied as text: each byte 10 (LF) has become the bytes 13 and 10 (CRLF)"
        hint = "copy the .bin again as a binary file; in git, mark it in .gitattributes: *.bin binary"
        yield Diagnostic("W201", message, where, hint=hint)
        return
    message = f"the weights{named} have {counted(weights.total, 'byte')}, but the constants end at byte {end}"
    lost = _lost(document, weights.total - end)
    told = " or ".join(f"Const {layer.name!r} (line {one.line})" for layer, one in lost)
    message += f"; should {told} begin at byte {end}?" if lost else "; are they another model's weights?"
    trimmed = "if constants were removed, drop the bytes: irshape edit FILE --trim -o OUT.xml"
    hint = f"give the .bin that was written together with the .xml, or {'correct the offset of the constant' if lost else trimmed}"
    yield Diagnostic("W201", message, where, hint=hint, related=tuple([one for _, one in lost]))


def _lost(document: Document, size: int) -> list[tuple[Layer, Where]]:
    """The constants of this size that begin where another one begins, if there are two at most: one may belong behind the others."""
    stored = [*constants(document)]
    begins = Counter(start for start, *_ in stored)
    found = [(layer, path) for start, end, layer, path in stored if end - start == size and begins[start] > 1]
    found = found if len(found) <= 2 else []
    return [(layer, place(document, layer, document.attribute_offset(layer.data_offset, "offset"), path=path)) for layer, path in found]


def _has_other_line_ends(weights: Weights, surplus: int) -> bool:
    """Whether weights that are too long are those of the file with CRLF in place of each LF; the first part of large ones tells."""
    if 2 * surplus > weights.total:  # a byte becomes two at most
        return False
    part = weights.read(0, min(weights.total, _TOLD[0]))
    if b"\n" not in part:
        part = weights.read(0, min(weights.total, _TOLD[1]))
    feeds = part.count(b"\n")
    return bool(feeds) and part.count(b"\r\n") == feeds and (feeds == surplus if len(part) == weights.total else feeds <= surplus)


def distrusted(diagnostics: Sequence[Diagnostic], without_values: Sequence[Diagnostic]) -> list[Diagnostic] | None:
    """The diagnostics of weights that do not fit, where those that follow from their values follow from W201; None if none does.

    `without_values` are the diagnostics of the same model when no weights are read.
    """
    found = {(one.code, one.where.offset) for one in without_values}
    following = [one for one in diagnostics if one.code[0] != "W" and (one.code, one.where.offset) not in found]
    if not following:
        return None
    surplus, *others = sorted((one for one in diagnostics if one.code[0] == "W"), key=lambda one: one.code)
    leader = surplus._with_severity(ERROR) if any(one.severity == ERROR for one in following) else surplus
    for one in following:  # what mends them would write what foreign values say
        one.caused_by, one.fix, one.rank = one.caused_by or leader, None, leader.rank
    return [leader, *others, *following, *(one for one in without_values if one.code != "N108")]
