"""Weights in which some constants have other bytes, or behind which new constants stand; the file itself never changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from irshape.xml.weights import Weights, WeightsError, no_weights

if TYPE_CHECKING:
    from irshape.xml.not_xml import Format


class PatchedWeights(Weights):
    """Weights with other bytes at some places; the original stays as it is.

    `patches` are the bytes by their offsets. They may also be behind the end of the original. They must not overlap.
    """

    is_patched = True

    def __init__(self, original: Weights, patches: Mapping[int, bytes]) -> None:
        super().__init__(original)
        self._original = original
        self._patches = {offset: patches[offset] for offset in sorted(patches)}
        self._starts = list(self._patches)
        self._ends = [offset + len(data) for offset, data in self._patches.items()]

    @property
    def path(self) -> str | None:
        return self._original.path

    def format(self) -> Format | None:
        return self._original.format()

    def copy_to(self, file: IO[bytes]) -> None:
        """Write all bytes to an empty file: a copy of the original, and the patches in it."""
        self._original.copy_to(file)
        for offset, data in self._patches.items():
            file.seek(offset)
            file.write(data)

    def __reduce__(self) -> tuple[Any, ...]:
        return PatchedWeights, (self._original, self._patches)

    def _open(self) -> int:
        return max([self._original.total, *self._ends])

    def _read(self, offset: int, size: int) -> bytes:
        end, stored = offset + size, max(min(offset + size, self._original.total) - offset, 0)
        data = bytearray(self._original.read(offset, stored) if stored else b"")  # no memory is taken for bytes that the original lacks
        data += bytes(size - stored)
        for place in range(bisect_right(self._ends, offset), bisect_left(self._starts, end)):
            start = self._starts[place]
            patch = self._patches[start]
            first, last = max(start, offset), min(start + len(patch), end)
            data[first - offset : last - offset] = patch[first - start : last - start]
        self.bytes_read += size
        return bytes(data)


class RangedWeights(Weights):
    """Some ranges of other weights, each at a place of its own.

    `ranges` are the places, the old offsets and the sizes, in ascending order.
    """

    is_patched = True

    def __init__(self, original: Weights, ranges: Sequence[tuple[int, int, int]]) -> None:
        super().__init__(b"")
        self._original = original
        self._ranges = ranges
        self._starts = [place for place, _, _ in self._ranges]

    def __reduce__(self) -> tuple[Any, ...]:
        return RangedWeights, (self._original, self._ranges)

    def _open(self) -> int:
        return self._ranges[-1][0] + self._ranges[-1][2] if self._ranges else 0

    def _read(self, offset: int, size: int) -> bytes:
        at, end, pieces = offset, offset + size, []
        for place, old, length in self._ranges[max(bisect_right(self._starts, offset) - 1, 0) : bisect_left(self._starts, end)]:
            first, last = max(place, offset), min(place + length, end)
            if first < last:
                pieces += [bytes(first - at), self._original.read(old + first - place, last - first)]
                at = last
        self.bytes_read += size
        return b"".join([*pieces, bytes(end - at)])


class AppendedWeights(Weights):
    """Weights behind which new constants are put, one after the other; the bytes of the original end at `start` or before.

    `appended` are the bytes by their offsets, and may grow. `has_original` says that the original can be read.
    """

    def __init__(self, original: Weights | None, start: int, appended: dict[int, bytes]) -> None:
        super().__init__(original or b"")
        self._original = original
        self._appended = appended
        self.start = start
        try:
            self.has_original = original is not None and original.total >= 0
        except WeightsError:
            self.has_original = False

    @property
    def path(self) -> str | None:
        return None if self._original is None else self._original.path

    @property
    def total(self) -> int:
        """The number of bytes up to now."""
        last = next(reversed(self._appended), None)
        return self.start if last is None else last + len(self._appended[last])

    def format(self) -> Format | None:
        return None if self._original is None else self._original.format()

    def __reduce__(self) -> tuple[Any, ...]:
        return AppendedWeights, (self._original, self.start, self._appended)

    def filled(self) -> Weights:
        """The same weights with zeros where the original has no bytes."""
        return PatchedWeights(self._original or Weights(b""), self._appended)

    def require(self, offset: int, size: int) -> None:
        if self._original is not None and self.has_original and offset < self.start:
            self._original.require(offset, size)

    def read(self, offset: int, size: int) -> bytes:
        """Exactly `size` bytes from `offset`, of the original or of one new constant."""
        if offset >= self.start:
            # A read may begin inside of a constant, such as that of the end of a string.
            begin = offset if offset in self._appended else max((one for one in self._appended if one < offset), default=offset)
            data = self._appended.get(begin, b"")[offset - begin :][:size]
            if len(data) == size:
                return data
        if self._original is None:
            raise no_weights()
        return self._original.read(offset, size)
