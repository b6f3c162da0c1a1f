"""Writes a message's plain text: what is quoted from earlier messages and the signature are marked as such.

A quoted run keeps its `>` marks and carries `quoted` (how deep) as an attribute; what stands below an
"Original Message" line or a block of repeated header fields is quoted without marks; the signature carries `signature`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.document import Builder
from engine.extract.text import add_text, bounded, paragraphs

_MARKS = re.compile(r"^((?:[ \t]?>)+)[ \t]?(.*)$")
# A line that announces a quotation: "On ... wrote:" in the languages of the common mailers.
_ANNOUNCED = re.compile(
    r"^.{5,300}(?:wrote|schrieb[^:]{0,80}|a écrit|escribió|ha scritto|schreef[^:]{0,80}|escreveu|написал\w*|skrev"
    r"|napisał\w*|写道|寫道|のメッセージ)\s?[:：]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_FORWARDED = re.compile(
    r"^\s*(?:-{2,}|_{5,}|Begin forwarded message)\s*"
    r"(?:original message|forwarded (?:message|by)|ursprüngliche nachricht|weitergeleitete nachricht|message d'origine"
    r"|message transféré|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|原始邮件"
    r"|转发邮件)?"
    r"[\s:-]*$",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"^\s*\*?(?:From|Sent|Date|To|Subject|Von|Gesendet|An|Betreff|De|Envoyé|À|Objet|Para|Enviado|Asunto|Da|Inviato|A|Oggetto"
    r"|发件人|发送时间|收件人|主题)\s*\*?\s*[:：]",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(r"^-- ?$")


def add_plain(builder: Builder, text: str) -> None:
    """Add a plain body to the builder."""
    for depth, kind, lines in _runs(text.replace("\r\n", "\n").split("\n")):
        run = "\n".join(lines)
        if depth == 0 and not kind:
            add_text(builder, run)
            continue
        attributes = {"quoted": str(depth or 1)} if kind != "signature" else {"signature": "true"}
        for paragraph in paragraphs(run):
            for piece in bounded(paragraph):
                marked = "\n".join(f"{'>' * depth} {line}".rstrip() for line in piece.split("\n")) if depth else piece
                builder.paragraph(marked, attributes=dict(attributes))


def _runs(lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    """(depth of `>` marks, "" or "quoted" or "signature", lines without the marks) in order."""
    kind, run, at_depth = "", list[str](), 0
    for number, line in enumerate(lines):
        match = _MARKS.match(line)
        depth, body = (match[1].count(">"), match[2]) if match else (0, line)
        starts = "" if depth else _starts(lines, number, kind)
        if run and (depth != at_depth or starts):
            yield at_depth, kind if not at_depth else "quoted", run
            run = []
        kind, at_depth = starts or kind, depth
        run.append(body)
        if kind == "announced":
            yield 0, "quoted", run
            kind, run = "", []
    if run:
        yield at_depth, kind if not at_depth else "quoted", run


def _starts(lines: list[str], number: int, kind: str) -> str:
    """What begins at this unquoted line: "quoted", "signature", "announced" for this line alone, "" for nothing."""
    line = lines[number]
    if kind != "quoted" and (_is_forwarding(lines, number) or _fields_from(lines, number) >= 3):
        return "quoted"
    if not kind and _SIGNATURE.match(line) and any(rest.strip() for rest in lines[number + 1 : number + 20]):
        return "signature"
    following = next((rest for rest in lines[number + 1 : number + 3] if rest.strip()), "")
    if _ANNOUNCED.match(line) and _MARKS.match(following):
        return "announced"
    return ""


def _is_forwarding(lines: list[str], number: int) -> bool:
    line = lines[number]
    if not _FORWARDED.match(line) or len(line.strip()) < 5:
        return False
    return bool(re.search(r"\w", line)) or _fields_from(lines, number + 1) >= 2


def _fields_from(lines: list[str], number: int) -> int:
    """How many of the next lines repeat header fields, as mailers write them above what they quote."""
    count = 0
    for line in lines[number : number + 8]:
        if _FIELD.match(line):
            count += 1
        elif not (count and line.strip() == ""):
            break
    return count
