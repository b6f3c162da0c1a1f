"""What a form is made of while it streams: its bounds, a part's headers, a text field, a file on its way into the
object store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from engine.errors import Code, InputError, Stage
from engine.objects import Writer
from engine.settings import Settings
from serve.filenames import invalid

OVERHEAD = 1 << 20  # bytes of boundaries and part headers beside a single file


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one form may hold. `names`: of the file fields. `forgiving`: a file that is too large is refused alone."""

    files: int
    file_bytes: int
    text_bytes: int
    body_bytes: int
    body_setting: str
    names: tuple[str, ...]
    forgiving: bool


def single_upload(settings: Settings) -> Bounds:
    """One file in the field `file`."""
    file, text = settings.limits.file_mb << 20, settings.serve.json_kb << 10
    return Bounds(1, file, text, file + text + OVERHEAD, "limits.file_mb", ("file",), False)


def batch_upload(settings: Settings) -> Bounds:
    """Many files, in fields named `files`, `files[]` or `file`."""
    file, text = settings.limits.file_mb << 20, settings.serve.json_kb << 10
    body, names = settings.serve.batch_mb << 20, ("files", "files[]", "file")
    return Bounds(settings.serve.max_batch_size, file, text, body, "serve.batch_mb", names, True)


@dataclass(slots=True)
class ReceivedFile:
    """A file of the form, in the order of the form. With a `failure` (only in a batch) nothing of it is stored:
    `object_key` and `sha256` are empty, and `size` counts what was sent."""

    field: str
    filename: str
    content_type: str  # as the client says; nothing is to depend on it
    object_key: str
    size: int = 0
    sha256: str = ""
    failure: InputError | None = None


def check_body(size: int, bounds: Bounds) -> None:
    """Raises InputError (FILE_TOO_LARGE) when a body of `size` bytes passes the bounds."""
    if size > bounds.body_bytes:
        raise too_large("the request passes", bounds.body_bytes, bounds.body_setting)


def too_large(what: str, limit: int, setting: str) -> InputError:
    """`what` is a subject and "pass" or "passes"."""
    message = f"{what} the limit of {limit} bytes (setting {setting})"
    return InputError(message, Code.FILE_TOO_LARGE, Stage.FETCH, {"limit": limit})


@dataclass(slots=True)
class Headers:
    """The headers of the part that begins; `done` are complete."""

    done: dict[bytes, bytes] = field(default_factory=lambda: dict[bytes, bytes]())
    _name: bytes = b""
    _value: bytes = b""

    def clear(self) -> None:
        self.done, self._name, self._value = {}, b"", b""

    def name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end(self) -> None:
        name = self._name.lower()
        if name in self.done:
            raise invalid("a part has a header twice")
        self.done[name] = self._value
        self._name = self._value = b""


class TextPart:
    def __init__(self, name: str) -> None:
        self.name = name
        self._value = bytearray()

    def write(self, data: bytes) -> None:
        self._value += data

    def text(self) -> str:
        """The field's value. Raises InputError for what is no UTF-8 text."""
        try:
            value = self._value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise invalid(f"the field {self.name} is not UTF-8 text", field=self.name) from error
        if "\0" in value:
            raise invalid(f"the field {self.name} holds a NUL character", field=self.name)
        return value


class FilePart:
    """A file on its way into its object."""

    def __init__(self, file: ReceivedFile, writer: Writer, bounds: Bounds) -> None:
        self._file, self._writer, self._bounds = file, writer, bounds
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        file, limit = self._file, self._bounds.file_bytes
        file.size += len(data)
        if file.failure is not None:
            return
        if file.size > limit:
            failure = too_large("the file passes", limit, "limits.file_mb")
            if not self._bounds.forgiving:
                raise failure
            self.abort()
            file.failure, file.object_key = failure, ""
            return
        self._digest.update(data)
        self._writer.write(data)

    def end(self) -> None:
        if self._file.failure is None:
            self._writer.commit()
            self._file.sha256 = self._digest.hexdigest()

    def abort(self) -> None:
        self._writer.abort()
