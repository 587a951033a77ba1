"""Weights in which some constants have other bytes; the file itself never changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.xml.formats import Format


class PatchedWeights(Weights):
    """Weights with other bytes at some places; the original stays as it is.

    `patches` are the bytes by their offsets. They may also be behind the end of the original.
    """

    def __init__(self, original: Weights, patches: Mapping[int, bytes]) -> None:
        super().__init__(original)
        self._original = original
        self._patches = dict(patches)

    @property
    def is_patched(self) -> bool:
        return True

    @property
    def path(self) -> str | None:
        """The path of the original."""
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
        return max(self._original.total, *(offset + len(data) for offset, data in self._patches.items()))

    def _read(self, offset: int, size: int) -> bytes:
        end, total = offset + size, self._original.total
        data = bytearray(size)
        if offset < total:
            stored = min(end, total) - offset
            data[:stored] = self._original.read(offset, stored)
        for start, patch in self._patches.items():
            first, last = max(start, offset), min(start + len(patch), end)
            if first < last:
                data[first - offset : last - offset] = patch[first - start : last - start]
        self.bytes_read += size
        return bytes(data)
