"""Active content of OpenDocument packages: macros, event listeners, DDE links, remote references."""

from __future__ import annotations

from engine.errors import InputError
from engine.records import Loss
from engine.sanitize import safexml
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name

_MACRO_FOLDERS = ("basic/", "scripts/", "dialogs/")
_HREF = "{http://www.w3.org/1999/xlink}href"
_FULL_PATH = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}full-path"
_REMOVED = {
    "scripts": ("macro_removed", "macros were removed"),
    "event-listeners": ("macro_removed", "event listeners were removed"),
    "dde-source": ("dde_link_removed", "a DDE link was removed"),
    "dde-connection-decls": ("dde_link_removed", "a DDE link was removed"),
    "dde-links": ("dde_link_removed", "a DDE link was removed"),
}
_REFERENCES = {"image", "object", "object-ole", "plugin", "applet", "floating-frame", "fill-image", "section-source"}

Changes = dict[str, bytes | None]


def changes(package: Package, losses: list[Loss]) -> Changes:
    """New bytes by part name, None for parts to drop; what was found is added to `losses`."""
    changed: Changes = {n: None for n in package.names() if n.lower().startswith(_MACRO_FOLDERS)}
    if any(not name.endswith(("script-lc.xml", "dialog-lc.xml")) for name in changed):
        losses.append(Loss("macro_removed", "macros were removed", sorted(changed)[0].partition("/")[0]))
    for name in ("content.xml", "styles.xml"):
        if name in package:
            _clean_part(package, name, changed, losses)
    if losses and "META-INF/manifest.xml" in package:
        _clean_manifest(package, changed)
    return changed


def _clean_part(package: Package, name: str, changed: Changes, losses: list[Loss]) -> None:
    try:
        root, _ = safexml.parse(package.xml_bytes(name), name)
    except InputError:
        return  # encrypted or broken: the extractor says which
    before = len(losses)
    for element in list(root.iter()):
        _clean_element(element, name, losses)
    if len(losses) > before:
        changed[name] = safexml.to_bytes(root)


def _clean_element(element: Node, name: str, losses: list[Loss]) -> None:
    kind = local_name(element)
    if kind in _REMOVED and (len(element) or kind == "dde-source"):
        parent = element.getparent()
        if parent is not None:
            losses.append(Loss(*_REMOVED[kind], name))
            parent.remove(element)
    elif kind in _REFERENCES and "://" in element.get(_HREF, ""):
        losses.append(Loss("external_reference_removed", f"an external {kind} reference was removed", name))
        element.set(_HREF, "")


def _clean_manifest(package: Package, changed: Changes) -> None:
    root, _ = safexml.parse(package.xml_bytes("META-INF/manifest.xml"), "META-INF/manifest.xml")
    for element in list(root):
        if element.get(_FULL_PATH, "").lower().startswith(_MACRO_FOLDERS):
            root.remove(element)
    changed["META-INF/manifest.xml"] = safexml.to_bytes(root)
