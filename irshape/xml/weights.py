"""The weights of an IR: the `.bin` is opened at the first read of a constant and read in exact ranges, never mapped or loaded whole."""

from __future__ import annotations

import errno
import os
import re
import stat
import struct
import sys
from _thread import RLock  # as threading.RLock, without what that module imports
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, TypeAlias

from irshape.files.reading import opened
from irshape.report.catalogue import next_step
from irshape.report.text import counted
from irshape.shape.compilation import mypyc_attr
from irshape.shape.element_type import ElementType
from irshape.shape.value import Ends

if TYPE_CHECKING:
    from irshape.xml.not_xml import Format

    WeightsSource: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | Readable | Weights"
    """A source of weights: the path of the `.bin`, its bytes, or an object with `seek` and `read`."""
    WeightsChoice: TypeAlias = "WeightsSource | Literal[False] | None"
    """The weights that a caller asks for: a source, None for those that belong to the file, False to read none."""


class Readable(Protocol):
    """A file object, or as much of one as weights need."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to an offset."""

    def read(self, size: int = -1, /) -> bytes:
        """Read bytes from there."""


# Bytes per read when the whole file is read.
_PIECE: Final = 1 << 20
# Where tools keep the files that they put into folders as links, and the folder beside it that holds the links: the cache of Hugging Face
# (snapshots/REVISION/model.bin leads to blobs/HASH), git-annex, DVC.
_STORES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (("blobs",), ("snapshots",)),
    ((".git", "annex", "objects"), ()),
    ((".dvc", "cache"), ()),
)
_XML: Final = "XML"
# The codes of a file whose constants have values that irshape does not know.
UNREAD: Final = ("W101", "W203", "N108")
_UNREAD: Final = "the weights are not read, so values of constants are unknown"
_ABSENT: Final = "; irshape treats the values of constants as unknown"
_FETCH: Final = "fetch the file that the link names, for example with git annex get or dvc pull"


class WeightsError(Exception):
    """Weights that cannot be read; `code` is a code of the catalogue, `message` says why, and `hint` is the next step."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(code, message, hint)  # a pickle makes an exception from these
        self.code = code
        self.message = message
        self.hint = hint or next_step(code)

    def __str__(self) -> str:
        return self.message


@mypyc_attr(allow_interpreted_subclasses=True)
class Weights:
    """The bytes of the constants, from a path, from bytes, or from an object with `seek` and `read`; False for weights that are not read.

    `folder` is the folder that no link may lead out of, None for a path that the user named. With `is_beside`, the path is that of the file
    beside a model. `bytes_read` counts the bytes read so far, `string_bytes` the bytes read of the headers of packed strings. `strings`
    holds the ranges that were checked for packed strings, each with its error or None. Every failure is a `WeightsError`. Safe to use from
    several threads. With `is_patched`, these are not the bytes of the file at `path`, but a changed copy.
    """

    is_patched: ClassVar[bool] = False

    def __init__(self, source: WeightsSource | Literal[False], *, folder: str | None = None, is_beside: bool = False) -> None:
        self.bytes_read = 0
        self.strings: dict[tuple[int, int], WeightsError | None] = {}
        self.string_bytes = 0
        self._source = source
        self._folder = folder
        self._is_beside = is_beside
        self._lock = RLock()  # an interrupt between a block and its release may leave it taken: then this thread goes on
        self._descriptor = -1
        self._size = -1
        self._error: WeightsError | None = None
        self._formats: tuple[Format | None] | None = None

    @classmethod
    def beside(cls, xml_path: str | os.PathLike[str], *, follow_links: bool = False) -> Weights:
        """The weights that OpenVINO looks for: the model's path with `.bin` in place of `.xml`.

        With `follow_links`, the file may be a link to one outside the model's folder.
        """
        path = os.fspath(xml_path)
        folder = None if follow_links else os.path.dirname(path) or "."
        return cls(os.path.splitext(path)[0] + ".bin", folder=folder, is_beside=True)

    @property
    def path(self) -> str | None:
        """The path of the weights; None for bytes and file objects."""
        return os.fspath(self._source) if isinstance(self._source, str | os.PathLike) else None

    @property
    def are_unread(self) -> bool:
        """Whether nobody wants the weights to be read."""
        return self._source is False

    @property
    def size(self) -> int:
        """The number of bytes; W101 if the weights are empty."""
        if (total := self.total) == 0:
            raise WeightsError("W101", f"the weights{self._named()} are empty", "copy or download the .bin again")
        return total

    @property
    def total(self) -> int:
        """The number of bytes, 0 for an empty file."""
        if self._error is None and self._size >= 0:
            return self._size
        with self._lock:
            if self._size < 0 and self._error is None:
                try:
                    self._size = self._open()
                except WeightsError as error:
                    self._error = error
                except OSError as fault:  # compiled, a variable has one type
                    self._error = WeightsError("W104", f"the weights{self._named()} cannot be read: {fault.strerror or fault}")
            if self._error is not None:
                raise self._error
            return self._size

    def require(self, offset: int, size: int) -> None:
        """Raise what `read` raises where there are not so many bytes."""
        total = self.size if size > 0 else self.total
        if offset < 0 or size < 0 or offset + size > total:
            raise self._too_short(offset, offset + size, total)

    def read(self, offset: int, size: int) -> bytes:
        """Exactly `size` bytes from `offset`; W102 if the weights end before, W101 if they are empty."""
        self.require(offset, size)
        data = self._read(offset, size)
        if len(data) != size:
            raise WeightsError("W102", f"the weights{self._named()} became shorter while they were read")
        return data

    def open(self) -> None:
        """Open the file if it is not open; W104 if it is not a regular file or is a link out of the model's folder."""
        self.total  # noqa: B018 - reading the size opens the file

    def copy_to(self, file: IO[bytes]) -> None:
        """Write all bytes to an empty file; the system copies them on write where the file system can."""
        total, done = self.total, 0
        if self._descriptor >= 0 and hasattr(os, "copy_file_range"):
            try:
                while done < total and (copied := os.copy_file_range(self._descriptor, file.fileno(), total - done, done, done)):
                    done += copied
            except OSError:
                pass  # between some file systems and on old kernels; the rest is read and written
        file.seek(done)
        for offset in range(done, total, _PIECE):
            file.write(self.read(offset, min(_PIECE, total - offset)))

    def close(self) -> None:
        """Close the file; a later read fails."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
            if descriptor >= 0:
                self._error = WeightsError("W104", "the weights are closed")
                os.close(descriptor)

    def __enter__(self) -> Weights:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            os.close(self._descriptor)

    def __reduce__(self) -> tuple[Any, ...]:
        source = self._source
        if isinstance(source, memoryview):
            source = bytes(source)
        elif not isinstance(source, str | os.PathLike | bytes | bytearray):
            try:
                source.__reduce_ex__(4)
            except TypeError:  # an open file
                source = _Elsewhere(type(source).__name__)
        return partial(Weights, source, folder=self._folder, is_beside=self._is_beside), ()

    def _named(self) -> str:
        path = self.path
        return "" if path is None else f" {path!r}"

    def _open(self) -> int:
        source = self._source
        if source is False:
            raise WeightsError("N108", _UNREAD)
        if isinstance(source, bytes | bytearray | memoryview):
            return memoryview(source).nbytes
        if (path := self.path) is None:
            file: Any = source
            return int(file.seek(0, os.SEEK_END))
        try:
            descriptor, status = opened(path)
        except (FileNotFoundError, NotADirectoryError):
            raise self._missing(path) from None
        except OSError as error:
            if error.errno in (errno.EISDIR, errno.EINVAL, errno.ENXIO, errno.ELOOP):
                raise WeightsError("W104", f"{path!r} is not a regular file", "put the .bin file itself there") from None
            raise
        if self._folder is not None and not _is_inside(path, self._folder, status):
            os.close(descriptor)
            hint = f"put the file itself there, or allow the link: --weights-file {path}, or --follow-links of check and scan for a folder"
            raise WeightsError("W104", f"{path!r} is a link to a file outside the model's folder", hint)
        self._descriptor = descriptor
        return status.st_size

    def _missing(self, path: str) -> WeightsError:
        if os.path.islink(path):
            return WeightsError("W101", f"the weights file {path!r} is a link to {os.readlink(path)!r}, which does not exist", _FETCH)
        if self._is_beside:
            return absent(path)
        hint = "put the .bin beside the .xml, or give its path with --weights-file"
        return WeightsError("W101", f"the weights file {path!r} does not exist", hint)

    def _read(self, offset: int, size: int) -> bytes:
        source = self._source
        try:
            if isinstance(source, bytes | bytearray | memoryview):
                data = bytes(memoryview(source).cast("B")[offset : offset + size])
            elif self._descriptor >= 0 and hasattr(os, "pread"):
                data = _all(lambda done: os.pread(self._descriptor, size - done, offset + done), size)
            else:
                with self._lock:
                    file: Any = _Descriptor(self._descriptor) if self.path is not None else source
                    file.seek(offset)
                    data = _all(lambda done: file.read(size - done), size)
        except OSError as error:
            raise WeightsError("W104", f"the weights{self._named()} cannot be read: {error.strerror or error}") from error
        with self._lock:
            self.bytes_read += len(data)
        return data

    def _too_short(self, start: int, end: int, total: int) -> WeightsError:
        """The error of weights without some bytes: what the file is, if it holds no weights, else where it ends."""
        if (format := self.format()) is not None:
            if format.name == _XML:
                return WeightsError("W105", f"the weights{self._named()} are XML; are the .xml and the .bin swapped?", format.hint)
            return WeightsError("W107", f"the weights{self._named()} are {format.name}, not the .bin of an IR", format.hint)
        message = f"bytes {start} to {end} are needed, but the weights{self._named()} end at byte {total}"
        return WeightsError("W102", message, "copy the .bin again: it was cut short, or belongs to another model")

    def format(self) -> Format | None:
        """The format that the first bytes tell, if it is one that weights never have; the bytes are read once."""
        if self._formats is None:
            from irshape.xml import not_xml

            found = not_xml.recognised(self._read(0, min(self.total, not_xml.HEAD)))
            if found is None and self._begins_like_xml():
                found = not_xml.Format(_XML, "give the .bin that was written together with the .xml")
            self._formats = (found,)
        return self._formats[0]

    def _begins_like_xml(self) -> bool:
        """Whether the first bytes are text that begins with a tag; those of a number may be a `<`, too."""
        head = self._read(0, min(self._size, 64))
        text = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
        return re.match(r"\ufeff?\s*<[?!A-Za-z]", text) is not None and re.search(r"[\0-\x08\ufffd](?!$)", text) is None


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class _Elsewhere:
    """In a pickle, stands for a file object that only the process that made it can read."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        raise OSError(f"they are in a {self.kind} of another process; pass the weights as a path or as bytes")

    def read(self, size: int = -1, /) -> bytes:
        return b""


class _Descriptor:
    """`seek` and `read` of a file descriptor, for systems without `pread`."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def seek(self, offset: int) -> None:
        os.lseek(self.descriptor, offset, os.SEEK_SET)

    def read(self, size: int) -> bytes:
        return os.read(self.descriptor, size)


def _all(read: Any, size: int) -> bytes:
    """The bytes of repeated reads, until there are `size` of them or the source ends."""
    pieces: list[bytes] = []
    done = 0
    while done < size and (piece := read(done)):
        pieces.append(piece)
        done += len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _is_inside(path: str, folder: str, status: os.stat_result) -> bool:
    """Whether the opened file is the one that `path` leads to, and whether that file is in `folder`, below it or in a store around it."""
    try:
        own = os.lstat(path)
        if not stat.S_ISLNK(own.st_mode) and (os.path.dirname(path) or ".") == folder and os.path.samestat(own, status):
            return True
        real, home = os.path.realpath(path), os.path.realpath(folder)
        is_inside = os.path.commonpath([real, home]) == home or _is_stored(real, home)
        return is_inside and os.path.samestat(os.stat(real), status)
    except (OSError, ValueError):
        return False


def _is_stored(real: str, home: str) -> bool:
    """Whether a file is in the store of a tool that puts links into folders, and the folder `home` belongs to the same store."""
    for store, linked in _STORES:
        root, found, _ = real.rpartition(os.sep + os.path.join(*store) + os.sep)
        if found and os.path.commonpath([os.path.join(root, *linked), home]) == os.path.join(root, *linked):
            return True
    return False


def no_weights() -> WeightsError:
    """The fault of a file with constants for which nobody gave weights."""
    message = f"the model has constants, but no weights were given{_ABSENT}"
    return WeightsError("W203", message, "give the .bin as weights=, or False to read none")


def absent(path: str) -> WeightsError:
    """The fault of a model that stands alone: there is no `.bin` beside it."""
    hint = "give its path with --weights-file, or that of the .xml with --stdin-filename" if path == "-.bin" else None
    return WeightsError("W203", f"the weights file {path!r} does not exist{_ABSENT}", hint)


def are_swapped(xml_path: str) -> bool:
    """Whether the `.bin` of a path begins like XML."""
    with Weights.beside(xml_path) as weights, suppress(WeightsError):
        return weights.path != xml_path and weights.size > 0 and weights._begins_like_xml()
    return False


def check_strings(weights: Weights, offset: int, size: int) -> None:
    """Raise W106 unless `size` bytes at `offset` are packed strings: their number, the begin of each, the end of the last, the characters.

    Only the header before the characters is read, and once for each range. X111 if the ranges overlap so much that their headers have
    more bytes than the weights.
    """
    known = weights.strings
    if (offset, size) not in known:
        try:
            _check_strings(weights, offset, size)
            known[offset, size] = None
        except WeightsError as error:
            known[offset, size] = error
    if (fault := known[offset, size]) is not None:
        raise fault


def _check_strings(weights: Weights, offset: int, size: int) -> None:
    stored = counted(size, "byte")
    if size < 4:
        raise WeightsError("W106", f"packed strings need at least 4 bytes for the number of strings, but the constant has {stored}")
    count = struct.unpack("<i", weights.read(offset, 4))[0]
    if count < 0:
        raise WeightsError("W106", f"the number of packed strings must not be negative, got {count}")
    header = 4 * (count + 2)
    if header > size:
        strings = counted(count, "string")
        raise WeightsError("W106", f"packed strings need {header} bytes for the header of {strings}, but the constant has {stored}")
    weights.string_bytes += header
    if weights.string_bytes > weights.size:
        raise WeightsError("X111", "the packed strings of several constants overlap too often; irshape does not read them again")
    last = 0
    for at in range(offset + 4, offset + header, _PIECE):
        piece = weights.read(at, min(_PIECE, offset + header - at))
        ends = struct.unpack(f"<{len(piece) // 4}i", piece)
        if last > ends[0] or list(ends) != sorted(ends):
            raise WeightsError("W106", f"the offsets of {counted(count, 'packed string')} are not in ascending order")
        last = ends[-1]
    if header + last > size:
        found = counted(count, "packed string")
        raise WeightsError("W106", f"the characters of {found} end at byte {header + last}, but the constant has {stored}")


_FORMATS: Final = {
    "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip


def decode(element_type: ElementType, data: bytes, count: int) -> tuple[int | float, ...] | None:
    """`count` elements as exact Python numbers, booleans as 0 and 1; None for a type that no value port takes.

    Types narrower than a byte are packed from the low bits up, u1 from the high bits down. W103 if `data` is too short.
    """
    if len(data) < element_type.byte_size(count):
        stored, elements = counted(len(data), "byte"), counted(count, "element")
        needed = element_type.byte_size(count)
        raise WeightsError("W103", f"the constant stores {stored}; its shape and type need {needed} ({elements} of {element_type})")
    name = element_type.name
    if (code := _FORMATS.get(name)) is not None:
        return struct.unpack_from(f"<{count}{code}", data)
    if name == "boolean":
        return tuple(int(byte != 0) for byte in data[:count])
    if name == "bf16":
        # A bf16 is the upper half of an f32.
        return struct.unpack(f"<{count}f", b"".join(b"\0\0" + data[at : at + 2] for at in range(0, 2 * count, 2)))
    if name in ("i4", "u4", "u2"):
        fields = [byte >> shift & (1 << element_type.bits) - 1 for byte in data for shift in range(0, 8, element_type.bits)][:count]
        return tuple(field - 16 if name == "i4" and field > 7 else field for field in fields)
    if name == "u1":
        return tuple(data[i // 8] >> 7 - i % 8 & 1 for i in range(count))
    return None


def ends(element_type: ElementType, data: bytes, count: int, length: int = 1) -> Ends | None:
    """The least and the greatest of `count` integers, without a list of them; None for a type that is no integer of whole bytes.

    `length` is that of the tuples whose numbers are told apart.
    """
    if element_type.is_real or count == 0 or (code := _FORMATS.get(element_type.name)) is None:
        return None
    elements: Any = memoryview(data)[: element_type.byte_size(count)]
    elements = elements.cast(code) if sys.byteorder == "little" else struct.unpack_from(f"<{count}{code}", data)
    return tuple([(min(elements[at::length]), max(elements[at::length])) for at in range(length)])
