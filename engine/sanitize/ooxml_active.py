"""Active content of OOXML packages: which parts go, and which are rewritten without it."""

from __future__ import annotations

import posixpath
import re

from engine.errors import InputError
from engine.records import Loss
from engine.sanitize import safexml
from engine.sanitize.ole import is_executable, open_object
from engine.sanitize.package import OLE_MAGIC, Package, part_key
from engine.sanitize.safexml import Node, local_name, text_of

_GONE = {
    "vbaProject": ("macro_removed", "macros were removed"),
    "wordVbaData": ("macro_removed", "macros were removed"),
    "vbaProjectSignature": ("macro_removed", "macros were removed"),
    "vbaProjectSignatureAgile": ("macro_removed", "macros were removed"),
    "vbaProjectSignatureV3": ("macro_removed", "macros were removed"),
    "xlMacrosheet": ("macro_removed", "a macro sheet was removed"),
    "xlIntlMacrosheet": ("macro_removed", "a macro sheet was removed"),
    "control": ("activex_removed", "an ActiveX control was removed"),
    "activeXControlBinary": ("activex_removed", "an ActiveX control was removed"),
    "extensibility": ("macro_removed", "a ribbon extension was removed"),
}
_KEPT_EXTERNAL = {"hyperlink"}
_MACRO_TYPES = re.compile(
    rb"application/vnd\.ms-(word\.document|word\.template|excel\.sheet|excel\.template|powerpoint\.presentation"
    rb"|powerpoint\.slideshow|powerpoint\.template)\.macroEnabled(?:Template)?\.main\+xml"
)
_PLAIN_TYPES = {
    b"word": b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    b"excel": b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    b"powerpoint": b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
}
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DDE = re.compile(r"^\s*\"?\s*DDE(?:AUTO)?\b", re.IGNORECASE)
_CODES = re.compile(rb"<\w*:?instrText[^>]*>([^<]*)|\binstr=\"([^\"]*)\"")

Changes = dict[str, bytes | None]


def changes(package: Package, losses: list[Loss]) -> Changes:
    """New bytes by part name, None for parts to drop; what was found is added to `losses`."""
    changed: Changes = {}
    doomed: set[str] = set()
    for name in package.names():
        if name.lower().endswith(".rels"):
            _clean_relationships(package, name, changed, doomed, losses)
        elif name.lower().startswith("word/") and name.lower().endswith(".xml"):
            _clean_fields(package, name, changed, losses)
    for part in doomed:
        changed[part] = None
    if losses:
        types = package.read("[Content_Types].xml")
        changed["[Content_Types].xml"] = _clean_types(types, doomed)
    return changed


def _clean_relationships(package: Package, name: str, changed: Changes, doomed: set[str], losses: list[Loss]) -> None:
    try:
        root, _ = safexml.parse(package.xml_bytes(name), name)
    except InputError:
        return  # the extractor reports a broken part
    owner = posixpath.dirname(posixpath.dirname(name))
    touched = False
    for element in [e for e in root if local_name(e) == "Relationship"]:
        kind, target = element.get("Type", "").rpartition("/")[2], element.get("Target", "")
        if element.get("TargetMode") == "External":
            touched |= _blank_external(element, kind, name, losses)
            continue
        part = posixpath.normpath(posixpath.join("/", owner, target.replace("\\", "/"))).lstrip("/")
        found = _verdict(package, kind, part)
        if found is not None:
            losses.append(Loss(found[0], found[1], part))
            doomed.add(_stored_name(package, part))
            root.remove(element)
            touched = True
    if touched:
        changed[name] = safexml.to_bytes(root)


def _stored_name(package: Package, part: str) -> str:
    return next((n for n in package.names() if part_key(n) == part_key(part)), part)


def _blank_external(element: Node, kind: str, name: str, losses: list[Loss]) -> bool:
    if kind in _KEPT_EXTERNAL:
        return False
    if kind == "attachedTemplate":
        losses.append(Loss("attached_template_removed", "a reference to a template elsewhere was removed", name))
    else:
        losses.append(Loss("external_reference_removed", f"an external {kind} reference was removed", name))
    element.set("Target", "about:blank")
    return True


def _verdict(package: Package, kind: str, part: str) -> tuple[str, str] | None:
    """Why a part must go, or None."""
    if kind in _GONE:
        return _GONE[kind]
    if kind not in {"oleObject", "package", "externalLink"} or part not in package:
        return None
    try:
        data = package.read(part)
    except InputError:
        return None
    if kind == "externalLink":
        dde = b"ddeLink" in data or b"oleLink" in data
        return ("dde_link_removed", "a DDE or OLE link to another program was removed") if dde else None
    if not data.startswith(OLE_MAGIC):
        return None if not is_executable(part, data) else ("ole_object_removed", "an embedded program was removed")
    opened = open_object(data, posixpath.basename(part))
    if opened is None or is_executable(*opened):
        return "ole_object_removed", "an OLE object that holds no document was removed"
    return None


def _clean_fields(package: Package, name: str, changed: Changes, losses: list[Loss]) -> None:
    """Blank the codes of DDE fields; a code may be spread over many runs."""
    try:
        data = package.xml_bytes(name)
    except InputError:
        return
    codes = b"".join(a or b for a, b in _CODES.findall(data))
    if b"DDE" not in codes.upper():
        return
    root, _ = safexml.parse(data, name)
    count = _blank_complex_fields(root) + _blank_simple_fields(root)
    if count:
        losses.append(Loss("dde_link_removed", "DDE fields were disabled", name, count))
        changed[name] = safexml.to_bytes(root)


def _blank_complex_fields(root: Node) -> int:
    open_codes: list[list[Node]] = []
    count = 0
    for element in root.iter(f"{_W}fldChar", f"{_W}instrText"):
        if element.tag == f"{_W}instrText":
            if open_codes:
                open_codes[-1].append(element)
            continue
        if element.get(f"{_W}fldCharType") == "begin":
            open_codes.append([])
        elif element.get(f"{_W}fldCharType") == "end" and open_codes:
            pieces = open_codes.pop()
            if _DDE.match("".join(map(text_of, pieces))):
                count += 1
                for piece in pieces:
                    piece.text = ""
    return count


def _blank_simple_fields(root: Node) -> int:
    doomed = [e for e in root.iter(f"{_W}fldSimple") if _DDE.match(e.get(f"{_W}instr", ""))]
    for element in doomed:
        element.set(f"{_W}instr", "")
    return len(doomed)


def _clean_types(data: bytes, doomed: set[str]) -> bytes:
    root, _ = safexml.parse(safexml.transitional(data), "[Content_Types].xml")
    gone = {part_key(part) for part in doomed}
    for element in list(root):
        if local_name(element) == "Override" and part_key(element.get("PartName", "")) in gone:
            root.remove(element)
    return _MACRO_TYPES.sub(lambda m: _PLAIN_TYPES[m[1].partition(b".")[0]], safexml.to_bytes(root))
