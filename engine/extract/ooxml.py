"""What all OOXML formats share: relationships between parts, the main part, document properties."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from datetime import UTC, datetime

from engine.document import Builder
from engine.errors import InputError, Stage
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name, text_of
from engine.text import clean_text

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"


@dataclass(slots=True)
class Relationship:
    """`kind` is the last word of the relationship's type; `target` a part name, or a URL when external."""

    id: str
    kind: str
    target: str
    external: bool


Relationships = dict[str, Relationship]


def relationships(package: Package, part: str) -> Relationships:
    """Relationships of a part by id (of the package itself when `part` is empty)."""
    folder, name = posixpath.split(part)
    root = package.optional_xml(posixpath.join(folder, "_rels", f"{name}.rels"))
    found: Relationships = {}
    for element in root if root is not None else ():
        target = element.get("Target")
        if local_name(element) != "Relationship" or not target:
            continue
        external = element.get("TargetMode") == "External"
        kind = element.get("Type", "").rpartition("/")[2]
        if not external:
            target = posixpath.normpath(posixpath.join("/", folder, target.replace("\\", "/"))).lstrip("/")
        found[element.get("Id", "")] = Relationship(element.get("Id", ""), kind, target, external)
    return found


def first_of_kind(rels: Relationships, kind: str) -> str | None:
    """Target of the first internal relationship of a kind."""
    return next((r.target for r in rels.values() if r.kind == kind and not r.external), None)


def main_part(package: Package, usual: str) -> str:
    """Name of the part that holds the document: as the package says, else the `usual` name.

    Raises InputError(EXTRACTION_FAILED) when neither is there.
    """
    part = first_of_kind(relationships(package, ""), "officeDocument")
    for name in (part, usual):
        if name and name in package:
            return name
    raise InputError(f"this zip archive is not a {package.what}: {usual} is missing", stage=Stage.EXTRACT)


def read_properties(package: Package, builder: Builder) -> None:
    """Core and application properties into the builder's metadata."""
    rels = relationships(package, "")
    core = package.optional_xml(first_of_kind(rels, "core-properties") or "docProps/core.xml")
    meta = builder.metadata
    for element in core if core is not None else ():
        value = clean_text(text_of(element)).strip()
        match local_name(element):
            case _ if not value:
                pass
            case "title":
                meta.title = value
            case "creator":
                meta.author = value
            case "created":
                meta.created_date = parse_date(value)
            case "modified":
                meta.modified_date = parse_date(value)
            case "subject" | "description" | "keywords" | "category" | "lastModifiedBy" as name:
                meta.extra[name] = value[:2000]
            case _:
                pass
    app = package.optional_xml("docProps/app.xml")
    for element in app if app is not None else ():
        if local_name(element) in {"Pages", "Application", "Company"} and element.text:
            meta.extra[local_name(element).lower()] = clean_text(element.text)[:200]


def parse_date(value: str) -> datetime | None:
    """A W3CDTF date as an aware datetime (UTC where no zone is given); None when it is none."""
    try:
        date = datetime.fromisoformat(value)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def chosen(element: Node) -> Node | None:
    """The branch of mc:AlternateContent to read: the first choice, else the fallback. Never both."""
    choice = element.find(f"{MC}Choice")
    return choice if choice is not None and len(choice) else element.find(f"{MC}Fallback")
