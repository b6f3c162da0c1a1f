"""What Markdown's dialects add to it, turned into plain Markdown: MDX, fenced divs, admonitions, heading attributes.

Works on lines outside fenced code, so that no example of a dialect is changed inside a listing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.document import Builder

_FENCE = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})")
_MDX_START = re.compile(r"^(?:import\b.*|export\s+(?:const|let|var|default|async|function|class|\{|\*).*)$")
_IMPORT_END = re.compile(r"(?:from\s+|^import\s+)['\"][^'\"]*['\"]\s*;?\s*$")
_MAX_STATEMENT = 200  # lines
_EXPRESSION_COMMENT = re.compile(r"\{\s*/\*.*?\*/\s*\}", re.DOTALL)
_COMPONENT = re.compile(
    r"</?[A-Z][\w.]*(?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\}))?|\s*\{\.\.\.\w+\})*\s*/?>"
)
_SHOWN = re.compile(r"(?:title|label|heading|description|caption|alt|summary|text)\s*=\s*(?:\"([^\"]+)\"|'([^']+)')")
# Fenced divs of Pandoc and Quarto, directives of Docusaurus, VuePress and VitePress.
_DIV = re.compile(
    r"^\s*:{3,}\s*(?:\{[^}]*\}|[\w-]+)?\s*(?:\[(?P<label>[^\]]*)\]|(?P<title>[^{}\[\]]*?))\s*(?:\{[^}]*\})?\s*$"
)
_ATTRIBUTES = re.compile(r"^(\s{0,3}#{1,6}\s.*?)\s*\{\s*[#.:][^{}]*\}\s*#*\s*$")
_ALERT = re.compile(r"^(\s*>\s*)\[!(\w+)\]([+-]?)[ \t]*(.*)$")
_COMMENT = re.compile(r"<!--.*?-->|^\[(?://|comment|_)\]:\s*[#<>]+\s*[(\"'][^\n]*$", re.DOTALL | re.MULTILINE)


def without_mdx(text: str, builder: Builder) -> str:
    """MDX without its statements and component tags; titles given to components stay as text."""
    lines, kept, dropped, at = text.split("\n"), list[str](), 0, 0
    fenced = _fences()
    while at < len(lines):
        if not fenced(lines[at]) and _MDX_START.match(lines[at]):
            at, dropped = _statement_end(lines, at), dropped + 1
        else:
            kept.append(lines[at])
            at += 1
    if dropped:
        builder.warn("mdx_code_dropped", "import and export lines were left out", count=dropped)
    return _outside_fences("\n".join(kept), _without_components)


def _statement_end(lines: list[str], at: int) -> int:
    """The line after a statement: an import up to its source, an export up to its balanced end."""
    depth = 0
    for number in range(at, min(len(lines), at + _MAX_STATEMENT)):
        line = lines[number]
        depth += sum(map(line.count, "{([")) - sum(map(line.count, "})]"))
        done = _IMPORT_END.search(line) if lines[at].startswith("import") else depth <= 0
        if done or (number > at and not line.strip() and depth <= 0):
            return number + 1
    return at + 1


def _without_components(text: str) -> str:
    text = _EXPRESSION_COMMENT.sub("", text)
    text = _COMPONENT.sub(_shown_attributes, text)
    return re.sub(r"(?m)^[ \t]+(?=\S)(?![-*+] |\d+[.)] )", "", text)  # MDX has no indented code


def _shown_attributes(match: re.Match[str]) -> str:
    shown = [a or b for a, b in _SHOWN.findall(match[0])]
    return "\n\n" + "\n\n".join(shown) + "\n\n" if shown else ""


def plain(text: str) -> str:
    """Fenced divs without their fences, alerts with a readable label, headings without attributes."""
    return _outside_fences(text, _plain_lines)


def _plain_lines(text: str) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        div = _DIV.match(line) if ":::" in line else None
        if div:
            lines += ["", div["label"] or div["title"] or "", ""]
            continue
        alert = _ALERT.match(line) if "[!" in line else None
        if alert:
            line = f"{alert[1]}{alert[4] or alert[2].capitalize() + ':'}"
        attributes = _ATTRIBUTES.match(line) if "{" in line and "#" in line else None
        lines.append(attributes[1] if attributes else line)
    return "\n".join(lines)


def count_comments(text: str) -> int:
    """Comments of either form that hold words; they are no text of the document."""
    return sum(bool(re.search(r"\w\s+\w", match[0].strip("<!->"))) for match in _COMMENT.finditer(text))


def _fences() -> Callable[[str], bool]:
    """A function that says of line after line whether it belongs to fenced code."""
    fence = ""

    def inside(line: str) -> bool:
        nonlocal fence
        match = _FENCE.match(line)
        if not fence:
            fence = match[1] if match else ""
            return bool(match)
        if match and match[1].startswith(fence) and not line.strip().strip("`~> "):
            fence = ""
        return True

    return inside


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """`text` with every run of lines outside fenced code changed."""
    fenced = _fences()
    parts: list[tuple[bool, list[str]]] = []
    for line in text.split("\n"):
        inside = fenced(line)
        if not parts or parts[-1][0] != inside:
            parts.append((inside, []))
        parts[-1][1].append(line)
    return "\n".join("\n".join(lines) if inside else change("\n".join(lines)) for inside, lines in parts)
