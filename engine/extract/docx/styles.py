"""What a Word style means for structure: heading level, code, caption, list membership, hidden text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.sanitize.safexml import Node

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

# Built-in heading names as localised programs write them into w:name; the digit is the level.
_HEADING_NAME = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|заголовок|başlık"
    r"|cabeçalho|encabezado|naslov|címsor|antet|επικεφαλίδα|כותרת|عنوان|見出し|标题|標題|제목)\s*([1-9])",
    re.IGNORECASE,
)
_TITLE_NAME = re.compile(r"(?:title|titel|titre principal|表題|标题|標題|제목)", re.IGNORECASE)
_CODE_NAME = re.compile(
    r"(?:^|[\s_-])(?:source\s*code|code|code\s*block|html\s*preformatted|preformatted(?:\s*text)?|verbatim|macro(?:\s*text)?"
    r"|program\s*listing|quellcode|quelltext)(?:$|[\s_-])",
    re.IGNORECASE,
)
_CAPTION_NAME = re.compile(r"(?:caption|beschriftung|légende|leyenda|didascalia|図表番号|题注)", re.IGNORECASE)


def value(element: Node | None, name: str) -> str | None:
    """`w:val` of a child called `name`; None without the child, "" without the attribute."""
    child = element.find(f"{W}{name}") if element is not None else None
    return None if child is None else child.get(f"{W}val", "")


def number(text: str | None) -> int | None:
    """An integer attribute; None for anything else."""
    try:
        return int(text) if text else None
    except ValueError:
        return None


def toggled(properties: Node | None, name: str) -> bool | None:
    """A toggle property such as `w:vanish`: None when it is not given."""
    given = value(properties, name)
    return None if given is None else given not in {"0", "false", "off", "none"}


@dataclass(slots=True)
class Style:
    name: str = ""
    parent: str | None = None
    outline: int | None = None  # 0-8 heading, 9 body text
    list_id: str | None = None
    list_level: int | None = None
    hidden: bool | None = None
    size: int | None = None  # half points
    bold: bool | None = None


@dataclass(slots=True)
class Styles:
    """The styles of a document by id, with inheritance resolved on request."""

    by_id: dict[str, Style] = field(default_factory=lambda: dict[str, Style]())
    default_paragraph: str | None = None
    default_size: int = 20  # half points; Word's own where the document names none
    _looks: dict[tuple[str | None, str | None], tuple[int, bool]] = field(
        default_factory=lambda: dict[tuple[str | None, str | None], tuple[int, bool]]()
    )

    def chain(self, style_id: str | None) -> list[Style]:
        """The style and those it is based on, nearest first; the default style when `style_id` is None."""
        chain: list[Style] = []
        style_id = style_id or self.default_paragraph
        while style_id and (style := self.by_id.get(style_id)) is not None and len(chain) < 30:
            chain.append(style)
            style_id = style.parent
        return chain

    def heading_level(self, style_id: str | None) -> int | None:
        """1-9 for a heading style, by the nearest outline level or built-in name."""
        for style in self.chain(style_id):
            if style.outline is not None:
                return style.outline + 1 if style.outline < 9 else None
            if match := _HEADING_NAME.fullmatch(style.name):
                return int(match[1])
            if _TITLE_NAME.fullmatch(style.name):
                return 1
        return None

    def is_code(self, style_id: str | None) -> bool:
        """Whether the style or one it is based on is named for code."""
        return any(_CODE_NAME.search(style.name) for style in self.chain(style_id))

    def is_caption(self, style_id: str | None) -> bool:
        """Whether the style or one it is based on is the caption style."""
        return any(_CAPTION_NAME.fullmatch(style.name) for style in self.chain(style_id))

    def list_of(self, style_id: str | None) -> tuple[str | None, int | None]:
        """Numbering id and level that a paragraph style brings along."""
        chain = self.chain(style_id)
        list_id = next((s.list_id for s in chain if s.list_id is not None), None)
        return list_id, next((s.list_level for s in chain if s.list_level is not None), None)

    def look(self, run_style: str | None, paragraph_style: str | None) -> tuple[int, bool]:
        """Font size in half points and whether bold, of a run that says nothing itself."""
        key = run_style, paragraph_style
        if key not in self._looks:
            chain = [*(self.chain(run_style) if run_style else []), *self.chain(paragraph_style)]
            size = next((s.size for s in chain if s.size is not None), self.default_size)
            self._looks[key] = size, bool(next((s.bold for s in chain if s.bold is not None), False))
        return self._looks[key]

    def is_title(self, style_id: str | None) -> bool:
        """Whether the style or one it is based on is the document's title."""
        return any(_TITLE_NAME.fullmatch(style.name) for style in self.chain(style_id))

    def hidden(self, style_id: str | None) -> bool:
        """Whether the style hides its text."""
        return (
            bool(next((s.hidden for s in self.chain(style_id) if s.hidden is not None), False)) if style_id else False
        )


def read_styles(root: Node | None) -> Styles:
    """Styles from the root of `word/styles.xml`; an empty set when there is none."""
    styles = Styles()
    defaults = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr") if root is not None else None
    styles.default_size = number(value(defaults, "sz")) or styles.default_size
    for element in root.iterchildren(f"{W}style") if root is not None else ():
        style_id = element.get(f"{W}styleId", "")
        styles.by_id[style_id] = _style(element)
        if element.get(f"{W}type") == "paragraph" and element.get(f"{W}default") in {"1", "true"}:
            styles.default_paragraph = style_id
    return styles


def _style(element: Node) -> Style:
    paragraph, run = element.find(f"{W}pPr"), element.find(f"{W}rPr")
    numbering = paragraph.find(f"{W}numPr") if paragraph is not None else None
    return Style(
        name=value(element, "name") or "",
        parent=value(element, "basedOn"),
        outline=number(value(paragraph, "outlineLvl")),
        list_id=value(numbering, "numId"),
        list_level=number(value(numbering, "ilvl")),
        hidden=toggled(run, "vanish"),
        size=number(value(run, "sz")),
        bold=toggled(run, "b"),
    )
