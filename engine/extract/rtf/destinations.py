"""What becomes of the text an RTF destination collected: notes, comments, boxes, metadata, pictures."""

from __future__ import annotations

from engine.extract.flow import image_block, plain_text, text_block
from engine.extract.rtf.flow import Flow, paired
from engine.extract.rtf.state import Reader

_MAX_PICTURE_BYTES = 8 << 20


def close_flow(reader: Reader, flow: Flow) -> None:
    """Use what a destination collected."""
    parent = reader.group.flow
    match flow.kind:
        case "marker":
            parent.marker = paired("".join(flow.parts)).strip() or "-"
        case "note" | "comment" | "page_header" | "page_footer" | "box":
            _close_text(reader, flow, parent)
        case "title" | "author" | "subject" | "keywords" | "doccomm":
            _close_info(reader, flow)
        case "atnauthor":
            reader.author = paired("".join(flow.parts)).strip()
        case "pict":
            _close_picture(reader, flow, parent)
        case _:
            pass


def _close_text(reader: Reader, flow: Flow, parent: Flow) -> None:
    blocks = flow.finish(reader.paragraph)
    if flow.kind == "box":
        parent.anchored.extend(blocks)
        return
    text = plain_text(blocks).strip()
    if not text:
        return
    if flow.kind == "note":
        reader.notes += 1
        parent.parts.append(f"[^{reader.notes}]")
        parent.anchored.append(text_block("note", f"[^{reader.notes}]: {text}", label=str(reader.notes)))
    elif flow.kind == "comment":
        author, reader.author = reader.author, ""
        parent.anchored.append(text_block("comment", f"{author}: {text}" if author else text, author=author))
    else:
        reader.furniture.append((flow.kind, text))


def _close_info(reader: Reader, flow: Flow) -> None:
    text = paired("".join(flow.parts)).strip()
    meta = reader.builder.metadata
    if not text:
        return
    if flow.kind == "title":
        meta.title = text
    elif flow.kind == "author":
        meta.author = text
    else:
        meta.extra[{"doccomm": "description"}.get(flow.kind, flow.kind)] = text[:2000]


def _close_picture(reader: Reader, flow: Flow, parent: Flow) -> None:
    digits = "".join("".join(flow.parts).split())
    if not digits or parent.kind in {"marker", "stylesheet"}:
        return
    mime_type = {"pngblip": "image/png", "jpegblip": "image/jpeg"}.get(reader.picture_kind, "")
    data = b""
    if mime_type and len(digits) <= 2 * _MAX_PICTURE_BYTES:
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            reader.builder.warn("image_unreadable", "a picture's data is damaged")
    elif mime_type:
        reader.builder.warn("image_skipped", "pictures beyond the size kept were left out")
    parent.anchored.append(image_block(data, mime_type or "image/x-wmf", None))
