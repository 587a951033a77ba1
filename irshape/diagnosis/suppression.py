"""Suppressions: codes that a file asks not to report, by `<irshape ignore="..."/>` in the `<rt_info>` of a layer or of the net."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from irshape.report.diagnostic import Diagnostic, Diagnostics, Edit, Fix, Where
from irshape.report.selection import PREFIXES, checked_prefix, matches
from irshape.report.text import some
from irshape.xml.document import Document, Suppression

_CODE = "X204"
# The most codes that a message names.
_MOST_NAMES = 5


class _Entry:
    """A suppression with the range of bytes that it covers, its prefixes, and those that have ignored something."""

    def __init__(self, suppression: Suppression, size: int) -> None:
        self.suppression = suppression
        self.begin, self.end = (suppression.layer.offset, suppression.layer.end) if suppression.layer else (0, size)
        named = dict.fromkeys(suppression.codes.replace(",", " ").split())
        self.prefixes = [text for text in named if text in PREFIXES]
        self.unknown = [text for text in named if text not in PREFIXES]
        self.used: set[str] = set()

    def ignores(self, code: str) -> bool:
        """Whether the entry ignores a code, and note that it has."""
        found = [prefix for prefix in self.prefixes if matches(code, prefix)]
        self.used.update(found)
        return bool(found)


def suppressed(document: Document, found: Diagnostics, *, is_as_read: bool, has_targets: bool) -> Diagnostics:
    """The diagnostics without those that the file asks to ignore, and a warning for each entry that ignores nothing.

    An entry of a layer covers the layer and its bodies; an entry of the net covers the file. irshape's own faults (I) cannot be ignored.
    """
    entries = _entries(document)
    kept = _kept(found, entries)
    # A fault beyond the limit may be in any layer, so that no entry for its code is called unused.
    beyond = [code for (code, _), count in found.counts.items() if count > found.most]
    for entry in entries:
        needless = [prefix for prefix in entry.prefixes if prefix not in entry.used and (has_targets or prefix[0] != "P")]
        # Only some of the questions to a file take so much work that N106 says so.
        unused = [prefix for prefix in needless if not any(matches(code, prefix) for code in (*beyond, "N106"))]
        if (entry.unknown or not entry.prefixes or (unused and is_as_read)) and kept.has_room(_CODE):
            kept.append(_complaint(document, entry, unused if is_as_read else []))
    return kept


def unsuppressed(document: Document, found: Diagnostics) -> Diagnostics:
    """The diagnostics without those that the file asks to ignore."""
    return _kept(found, _entries(document))


def _entries(document: Document) -> list[_Entry]:
    size = len(document.source) + 1
    return sorted((_Entry(one, size) for one in document.suppressions), key=lambda entry: entry.begin)


def _kept(found: Diagnostics, entries: Sequence[_Entry]) -> Diagnostics:
    kept = Diagnostics(found.most)
    kept.counts.update(found.counts)
    for diagnostic, around in _enclosed(found, entries):
        # Every entry is asked, because an outer one is used by a fault that an inner one ignores, too.
        is_ignored = [entry.ignores(diagnostic.code) for entry in around] if diagnostic.code[0] != "I" else ()
        if any(is_ignored):
            kept.counts[diagnostic.code, diagnostic.severity] -= 1
        else:
            kept.append(diagnostic)
    # An entry of the net also ignores the faults beyond the limit, which have no place.
    for entry in entries:
        if entry.suppression.layer is None:
            for kind in kept.counts:
                kept.counts[kind] *= kind[0][0] == "I" or not any(matches(kind[0], prefix) for prefix in entry.prefixes)
    return kept


def _enclosed(found: Iterable[Diagnostic], entries: Iterable[_Entry]) -> Iterator[tuple[Diagnostic, list[_Entry]]]:
    """Each diagnostic, by place, with the entries that cover it. Ranges are nested, so the open ones are a stack."""
    pending = iter(entries)
    following = next(pending, None)
    around: list[_Entry] = []
    for diagnostic in sorted(found, key=lambda one: one.where.offset or 0):
        place = diagnostic.where.offset or 0
        while following is not None and following.begin <= place:
            while around and around[-1].end <= following.begin:
                around.pop()
            around.append(following)
            following = next(pending, None)
        while around and around[-1].end <= place:
            around.pop()
        yield diagnostic, around


def _complaint(document: Document, entry: _Entry, unused: list[str]) -> Diagnostic:
    """The warning about an entry, of whose prefixes some are unused, or that names no codes."""
    offset, layer = entry.suppression.offset, entry.suppression.layer
    reasons: list[str] = []
    if entry.unknown:
        try:
            checked_prefix(entry.unknown[0])
        except ValueError as error:
            reasons.append(str(error))
    elif not entry.prefixes:
        reasons.append("it names no code")
    if unused:
        reasons.append(f"no fault of this {'layer' if layer else 'file'} has the code {some(unused, _MOST_NAMES)}")
    names = {"layer_id": str(layer.id), "layer_name": layer.name, "layer_type": layer.type} if layer else {}
    line, column = document.position(offset)
    where = Where(document.path, line=line, column=column, offset=offset, **names)
    complaint = Diagnostic(_CODE, f"unused suppression: {'; '.join(reasons)}", where)
    if not entry.unknown:  # an unknown code may be misspelled
        complaint.fix = _shortened(document, entry, [prefix for prefix in entry.prefixes if prefix not in unused])
    return complaint


def _shortened(document: Document, entry: _Entry, needed: list[str]) -> Fix:
    """The fix that leaves only the codes in an entry that it needs, and removes the entry if it needs none."""
    start, end = entry.suppression.offset, entry.suppression.end
    text = ""
    if needed:
        text = f'<irshape ignore="{",".join(needed)}"/>'
        title = f'write ignore="{",".join(needed)}"'
    else:
        title = "remove the suppression"
        before = document.source[:start].rstrip()
        if before.endswith(">".encode(document.encoding)):
            start = len(before)
    return Fix(title, (Edit(start, end, text, *document.position(start), *document.position(end)),), True)
