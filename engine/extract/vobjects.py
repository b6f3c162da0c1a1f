"""Calendar entries and contact cards (iCalendar RFC 5545, vCard RFC 6350) as a heading and a list of facts each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.document import Builder

_FIRST_LINE = re.compile(r"\A\ufeff?\s*BEGIN:(?:VCALENDAR|VCARD)\s*$", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r"(?:[\w-]+\.)?(?P<name>[\w-]+)(?P<options>(?:;[^:;\"]*(?:\"[^\"]*\"[^:;\"]*)*)*):(?P<value>.*)", re.DOTALL
)
_OPTION = re.compile(r";([\w-]+)=(\"[^\"]*\"|[^;:]*)")
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?")
_SHOWN = {
    "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "DURATION": "Duration", "RRULE": "Repeats",
    "LOCATION": "Location", "ORGANIZER": "Organizer", "ATTENDEE": "Attendee", "STATUS": "Status", "URL": "URL",
    "CATEGORIES": "Categories",
    "FN": "Name", "ORG": "Organisation", "TITLE": "Title", "ROLE": "Role", "EMAIL": "E-mail", "TEL": "Telephone",
    "ADR": "Address", "BDAY": "Birthday", "METHOD": "Method", "COMPLETED": "Completed", "PRIORITY": "Priority",
}  # fmt: skip
_LONG = {"DESCRIPTION", "NOTE", "COMMENT"}
_ENTRIES = {"VEVENT", "VTODO", "VJOURNAL", "VCARD", "VFREEBUSY"}


@dataclass(slots=True)
class Entry:
    title: str = ""
    facts: list[str] = field(default_factory=lambda: list[str]())
    texts: list[str] = field(default_factory=lambda: list[str]())


def is_vobject(text: str) -> bool:
    return bool(_FIRST_LINE.match(text[:200]))


def add_vobjects(builder: Builder, text: str) -> None:
    """Add every event, task, note and contact of the file. Time zone definitions and alarms are left out."""
    open_parts: list[str] = []
    entry = Entry()
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        name, value = match["name"].upper(), match["value"]
        if name == "BEGIN":
            open_parts.append(value.strip().upper())
            entry = Entry() if open_parts[-1] in _ENTRIES else entry
        elif name == "END":
            _close(builder, open_parts.pop() if open_parts else "", entry)
        elif open_parts and open_parts[-1] in _ENTRIES:
            options = {key.upper(): said.strip('"') for key, said in _OPTION.findall(match["options"])}
            _read(entry, name, value, options)


def _close(builder: Builder, part: str, entry: Entry) -> None:
    if part not in _ENTRIES:
        return
    builder.heading(1, entry.title)
    builder.list_block([(1, "-", fact) for fact in entry.facts])
    for text in entry.texts:
        builder.paragraph(text)
    if builder.metadata.title is None:
        builder.metadata.title = entry.title or None


def _read(entry: Entry, name: str, value: str, options: dict[str, str]) -> None:
    text = _plain(value)
    if name == "SUMMARY" or (name == "FN" and not entry.title):
        entry.title = text
    if name in _LONG and text:
        entry.texts.append(text)
    elif name in _SHOWN and text:
        entry.facts.append(f"{_SHOWN[name]}: {_shown(name, text, value, options)}")


def _shown(name: str, text: str, value: str, options: dict[str, str]) -> str:
    if name in ("ORGANIZER", "ATTENDEE"):
        address = re.sub(r"(?i)^mailto:", "", text)
        shown = f"{options['CN']} <{address}>" if options.get("CN") else address
        answer = options.get("PARTSTAT", "").lower().replace("needs-action", "")
        return f"{shown} ({answer})" if answer else shown
    if name in ("ADR", "ORG"):
        return ", ".join(filter(None, (_plain(part).strip() for part in re.split(r"(?<!\\);", value))))
    time = _TIME.fullmatch(text)
    if time is None:
        return text
    day = "-".join(time.groups()[:3])
    zone = " UTC" if time[7] else f" ({options['TZID']})" if options.get("TZID") else ""
    return f"{day} {time[4]}:{time[5]}{zone}" if time[4] else day


def _plain(value: str) -> str:
    """A value without its escapes (RFC 5545, 3.3.11)."""
    return re.sub(r"\\([nN,;\\])", lambda m: "\n" if m[1] in "nN" else m[1], value).strip()
