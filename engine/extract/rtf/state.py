"""The state of reading an RTF file: groups and what they inherit, fonts, text still to be decoded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract.docx.symbols import symbol
from engine.extract.raised import superscript
from engine.extract.rtf.flow import Flow, Paragraph
from engine.extract.rtf.table import RowDefinition

MAX_DEPTH = 20_000


@dataclass(slots=True)
class Group:
    """What a group inherits and gives back when it closes."""

    flow: Flow
    codec: str
    font_symbols: str = ""  # name of a symbol font in force
    skip: bool = False
    hidden: bool = False
    deleted: bool = False
    raised: bool = False
    unicode_skip: int = 1
    opened_flow: bool = False
    starred: bool = False
    fresh: bool = True  # nothing met yet: a destination may still follow


@dataclass(slots=True)
class Font:
    codec: str | None = None
    symbol_charset: bool = False
    name: str = ""


@dataclass(slots=True)
class Reader:
    """One RTF file being read."""

    builder: Builder
    group: Group
    default_codec: str = "cp1252"
    stack: list[Group] = field(default_factory=lambda: list[Group]())
    fonts: dict[int, Font] = field(default_factory=lambda: dict[int, Font]())
    font: int = 0
    headings: dict[int, int] = field(default_factory=lambda: dict[int, int]())  # style number → level
    style: int = 0
    style_level: int | None = None
    paragraph: Paragraph = field(default_factory=Paragraph)
    row: RowDefinition = field(default_factory=RowDefinition)
    nested_row: RowDefinition = field(default_factory=RowDefinition)
    in_nested_properties: int = 0
    pending: bytearray = field(default_factory=bytearray)
    to_skip: int = 0  # characters still to be dropped after \uN
    notes: int = 0
    author: str = ""
    picture_kind: str = ""
    date: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    furniture: list[tuple[str, str]] = field(default_factory=lambda: list[tuple[str, str]]())

    # ------------------------------------------------------------ text
    def write(self, text: str) -> None:
        """Add decoded text to the current flow, unless it is not to be seen."""
        self.flush()
        self._put(text)

    def _put(self, text: str) -> None:
        group = self.group
        if group.skip or not text:
            return
        if group.hidden or group.deleted:
            if text.strip() and group.flow.kind not in {"stylesheet", "fonttbl", "pict"}:
                code = "hidden_text" if group.hidden else "tracked_changes"
                message = "text marked hidden was left out" if group.hidden else "tracked changes were read as accepted"
                self.builder.warn(code, message)
            return
        group.flow.parts.append(superscript(text) if group.raised else text)

    def write_bytes(self, data: bytes) -> None:
        """Add bytes in the code page in force; they are decoded together, as characters may span tokens."""
        if self.to_skip:
            dropped = min(self.to_skip, len(data))
            self.to_skip -= dropped
            data = data[dropped:]
        if not self.group.skip:
            self.pending += data

    def flush(self) -> None:
        """Decode the pending bytes."""
        if not self.pending:
            return
        data, self.pending = bytes(self.pending), bytearray()
        if self.group.font_symbols:
            signs = (symbol(self.group.font_symbols, f"{byte:02x}") or chr(byte) for byte in data)
            self._put("".join(signs))
        else:
            self._put(data.decode(self.group.codec, "replace"))

    # ------------------------------------------------------------ groups
    def open(self) -> None:
        """Start a group: it inherits everything. Raises InputError(LIMIT_EXCEEDED) when nested too deeply."""
        self.flush()
        self.to_skip = 0
        if len(self.stack) >= MAX_DEPTH:
            raise InputError("the RTF file is nested too deeply", Code.LIMIT_EXCEEDED, Stage.EXTRACT)
        self.stack.append(self.group)
        self.group = replace(self.group, opened_flow=False, starred=False, fresh=True)

    def close(self) -> Flow | None:
        """Give back what the group changed; the flow it opened, if it did, is complete."""
        self.flush()
        self.to_skip = 0
        if not self.stack:
            return None
        ended = self.group
        self.group = self.stack.pop()
        if len(self.stack) < self.in_nested_properties:
            self.in_nested_properties = 0
        return ended.flow if ended.opened_flow else None

    def open_flow(self, kind: str) -> None:
        """Text of this group goes to a flow of its own from here on."""
        self.group.flow = Flow(kind)
        self.group.opened_flow = True
        self.group.skip = False
