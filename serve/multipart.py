"""A multipart/form-data body, parsed while it streams: files go piece by piece into the object store, text fields
are collected, and every bound is enforced before the bytes past it are kept. Blocking, without a word of HTTP.
"""

from __future__ import annotations

import secrets
import threading

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from engine.errors import Code, CorpusError, InputError
from engine.objects import ObjectStore
from serve.filenames import clean, disposition, invalid
from serve.form_parts import Bounds, FilePart, Headers, ReceivedFile, TextPart, check_body, too_large

MAX_FIELDS = 100
MAX_FIELD_NAME = 100
_PLAIN = {b"", b"7bit", b"8bit", b"binary"}  # RFC 7578, section 4.7: the others are not for forms


def boundary_of(content_type: str) -> bytes:
    """The boundary of a multipart/form-data Content-Type. Raises InputError (INVALID_REQUEST)."""
    kind, parameters = parse_options_header(content_type)
    if kind != b"multipart/form-data":
        raise invalid("the request's Content-Type must be multipart/form-data")
    boundary = parameters.get(b"boundary", b"")
    if not boundary:
        raise invalid("the request's Content-Type names no boundary")
    return boundary


class Form:
    """One form on its way. `feed` the body's bytes, then `finish`; `fields` and `files` are then complete. When
    anything is raised, or the request ends before that, `abort` removes what was stored.

    One thread at a time feeds; `abort` may come from another and waits until `feed` is through.
    """

    def __init__(self, boundary: bytes, objects: ObjectStore, bounds: Bounds) -> None:
        """Raises InputError for a boundary that cannot be one."""
        self.fields: dict[str, list[str]] = {}
        self.files: list[ReceivedFile] = []
        self._objects, self._bounds = objects, bounds
        self._body_bytes = self._text_bytes = self._text_count = 0
        self._part: TextPart | FilePart | None = None
        self._headers = Headers()
        self._complete = self._aborted = False
        self._lock = threading.Lock()
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._headers.clear,
                    "on_header_field": self._headers.name,
                    "on_header_value": self._headers.value,
                    "on_header_end": self._headers.end,
                    "on_headers_finished": self._begin_part,
                    "on_part_data": self._part_data,
                    "on_part_end": self._end_part,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise invalid("the request's Content-Type names an impossible boundary") from error

    def feed(self, data: bytes) -> None:
        """Take the next piece. Raises InputError (FILE_TOO_LARGE, BATCH_TOO_LARGE, INVALID_REQUEST), StorageError."""
        with self._lock:
            if self._aborted:
                return
            self._body_bytes += len(data)
            check_body(self._body_bytes, self._bounds)
            try:
                self._parser.write(data)
            except FormParserError as error:
                raise invalid("the body is not a well-formed form") from error

    def finish(self) -> None:
        """The body has ended. Raises InputError (INVALID_REQUEST) when it was cut off, or holds no file."""
        if not self._complete:
            raise invalid("the body ended before the form was complete")
        if not self.files:
            raise invalid("the form has no file", field=self._bounds.names[0])

    def abort(self) -> None:
        """Remove everything that was stored. Raises StorageError after trying all."""
        with self._lock:
            self._aborted = True
            part, self._part = self._part, None
            try:
                if isinstance(part, FilePart):
                    part.abort()
            finally:
                remove(self._objects, [file.object_key for file in self.files])

    # ------------------------------------------------------------ the parser's callbacks
    def _begin_part(self) -> None:
        headers = self._headers.done
        if headers.get(b"content-transfer-encoding", b"").strip().lower() not in _PLAIN:
            raise invalid("a part has a Content-Transfer-Encoding, which forms do not use")
        names = disposition(headers.get(b"content-disposition", b""))
        if len(names.name) > MAX_FIELD_NAME:
            raise invalid(f"a field's name is longer than {MAX_FIELD_NAME} characters")
        if names.filename is None:
            self._part = self._begin_text(names.name)
        else:
            content_type = headers.get(b"content-type", b"").decode("latin-1").strip()
            self._part = self._begin_file(names.name, names.filename, content_type)

    def _begin_text(self, name: str) -> TextPart:
        if name in self._bounds.names:
            raise invalid(f"the field {name} must be a file with a name", field=name)
        self._text_count += 1
        if self._text_count > MAX_FIELDS:
            raise invalid(f"the form has more than {MAX_FIELDS} text fields")
        return TextPart(name)

    def _begin_file(self, name: str, filename: str, content_type: str) -> FilePart:
        if name not in self._bounds.names:
            raise invalid(f"a file is expected in the field {self._bounds.names[0]} only", field=name[:MAX_FIELD_NAME])
        if len(self.files) == self._bounds.files:
            raise self._too_many()
        file = ReceivedFile(name, clean(filename), content_type[:200], new_key())
        part = FilePart(file, self._objects.writer(file.object_key), self._bounds)
        self.files.append(file)
        return part

    def _too_many(self) -> InputError:
        if not self._bounds.forgiving:
            return invalid("the form has more than one file")
        message = f"more than {self._bounds.files} files in one batch (setting serve.max_batch_size)"
        return InputError(message, Code.BATCH_TOO_LARGE, details={"limit": self._bounds.files})

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        assert self._part is not None
        if isinstance(self._part, TextPart):
            self._text_bytes += end - start
            if self._text_bytes > self._bounds.text_bytes:
                raise too_large("the form's text fields pass", self._bounds.text_bytes, "serve.json_kb")
        self._part.write(data[start:end])

    def _end_part(self) -> None:
        if isinstance(self._part, TextPart):
            self.fields.setdefault(self._part.name, []).append(self._part.text())
        elif self._part is not None:
            self._part.end()
        self._part = None  # not before: until it is committed, an abort must reach it

    def _end(self) -> None:
        self._complete = True


def new_key() -> str:
    """A new upload's object key. It tells nothing, and no folder of a local store gets more than its share."""
    name = secrets.token_hex(16)
    return f"uploads/{name[:2]}/{name}"


def remove(objects: ObjectStore, keys: list[str]) -> None:
    """Delete these objects, all that can be. Raises the last failure."""
    failed: CorpusError | None = None
    for key in keys:
        try:
            objects.delete(key)
        except CorpusError as error:
            failed = error
    if failed is not None:
        raise failed
