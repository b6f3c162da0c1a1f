"""Tells text formats apart: by what the text begins with, then by the file's name."""

from __future__ import annotations

import json
import re

from engine.detect.names import format_by_name, language_by_shebang

_HTML = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_HTML_TAGS = re.compile(r"<(?:head|body|title|table|div|p|h[1-6]|ul|ol|meta|span|a|br|font|center)\b[^>]*>", re.I)
_LEAD = re.compile(r"(?:\s|\ufeff|<\?xml[^>]*\?>|<!--.*?-->)*", re.DOTALL)
_HEADER = re.compile(r"[!-9;-~]{1,70}:[ \t]?[^\n]*")
_MAIL_HEADERS = re.compile(
    r"^(?:from|to|cc|subject|date|message-id|received|return-path|mime-version|delivered-to|reply-to|x-mailer|"
    r"content-type|content-transfer-encoding):",
    re.IGNORECASE | re.MULTILINE,
)
_MBOX = re.compile(r"From \S+.*\d{4}\s*\n(?:>?[!-9;-~]+:[^\n]*\n)")
# Names under which markup in the text is the subject, not the container.
_KEEP_NAME = {"md", "rst", "org", "code", "eml", "mbox", "json", "jsonl", "ipynb", "xml", "html"}


def text_format(head: str, filename: str, whole: bool) -> str:
    """Format of a text. `head` is its beginning (all of it when `whole`), decoded.

    The name decides among formats that bytes cannot tell apart; clear HTML and XML win over a name that
    says table or plain text.
    """
    claimed = format_by_name(filename)
    if claimed in _KEEP_NAME:
        return _confirmed(claimed, head, whole)
    start = head[_LEAD.match(head).end() :][:64] if _LEAD.match(head) else head[:64]  # pyright: ignore[reportOptionalMemberAccess]
    if _HTML.match(start):
        return "html"
    if head.lstrip("\ufeff \t\r\n").startswith("<?xml"):
        return "html" if "<html" in head[:2000] else "xml"
    if claimed in ("txt", "csv", "tsv", "rtf"):
        return "txt" if claimed == "rtf" else claimed
    return _by_content(head, whole) or "txt"


def _confirmed(claimed: str, head: str, whole: bool) -> str:
    """The claimed format, unless the text plainly is a near relative of it."""
    stripped = head.lstrip("\ufeff \t\r\n")
    if claimed == "html" and "<" not in head:
        return "txt"
    if claimed == "xml" and _HTML.match(stripped[_LEAD.match(stripped).end() :]):  # pyright: ignore[reportOptionalMemberAccess]
        return "html"
    if claimed == "json" and _is_json_lines(stripped, whole):
        return "jsonl"
    if claimed == "eml" and _MBOX.match(stripped) and len(_MBOX.findall(head)) > 1:
        return "mbox"
    if claimed == "mbox" and not stripped.startswith("From ") and is_mail(stripped):
        return "eml"
    return claimed


def _by_content(head: str, whole: bool) -> str | None:
    """Format of a text whose name says nothing."""
    stripped = head.lstrip("\ufeff \t\r\n")
    if language_by_shebang(stripped.split("\n", 1)[0]):
        return "code"
    if _MBOX.match(stripped):
        return "mbox"
    if is_mail(stripped):
        return "eml"
    if stripped[:1] in ("{", "["):
        return _json_kind(stripped, whole)
    if stripped[:1] == "<" and len(_HTML_TAGS.findall(stripped[:8000])) >= 3:
        return "html"
    return None


def is_mail(text: str) -> bool:
    """Begins with at least two header lines of a message, and nothing but headers before the first empty line."""
    block = text[:20_000].replace("\r\n", "\n").split("\n\n", 1)[0]
    lines = [line for line in block.split("\n") if line[:1] not in (" ", "\t")]
    if not lines or not all(_HEADER.fullmatch(line) for line in lines[:20]):
        return False
    return len(_MAIL_HEADERS.findall(block)) >= 2


def _json_kind(text: str, whole: bool) -> str | None:
    if _is_json_lines(text, whole):
        return "jsonl"
    if not whole:
        return "json" if re.match(r"[\[{]\s*(?:[\[{\"]|-?\d)", text) else None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_notebook = isinstance(value, dict) and "cells" in value and "nbformat" in value
    return "ipynb" if is_notebook else "json"


def _is_json_lines(text: str, whole: bool) -> bool:
    """At least two lines, each a JSON object or array of its own (the last may be cut off)."""
    lines = [line for line in text.split("\n") if line.strip()][:5]
    if not whole and len(lines) > 2:
        lines = lines[:-1]
    if len(lines) < 2:
        return False
    try:
        return all(isinstance(json.loads(line), (dict, list)) for line in lines)
    except (ValueError, RecursionError):
        return False
