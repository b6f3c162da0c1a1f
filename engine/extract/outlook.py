"""Outlook message files (.msg): headers, body, attachments as child documents; embedded messages become .eml."""

from __future__ import annotations

import struct
from email import encoders
from email.header import Header
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime
from pathlib import Path

import olefile

from engine.decode import decode
from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.html import decode_html
from engine.extract.mail import add_content, add_headers
from engine.extract.mail.msg_store import Store
from engine.extract.mail.parts import Body, File
from engine.records import ExtractedDocument

_MAX_DEPTH = 10
_EMBEDDED = "__substg1.0_3701000D"
_BROKEN = (OSError, ValueError, IndexError, struct.error, RecursionError)
# Property tags of [MS-OXPROPS].
_SUBJECT, _BODY, _RTF, _HTML, _CLASS = 0x0037, 0x1000, 0x1009, 0x1013, 0x001A
_SENDER_NAME, _SENDER_SMTP, _SENDER_ADDRESS, _SENT_NAME = 0x0C1A, 0x5D01, 0x0C1F, 0x0042
_DISPLAY_TO, _DISPLAY_CC, _DISPLAY_BCC, _MESSAGE_ID = 0x0E04, 0x0E03, 0x0E02, 0x1035
_SUBMITTED, _DELIVERED = 0x0039, 0x0E06
_RECIPIENT_TYPE, _NAME, _ADDRESS, _SMTP = 0x0C15, 0x3001, 0x3003, 0x39FE
_LONG_NAME, _SHORT_NAME, _MIME, _CONTENT_ID, _DATA = 0x3707, 0x3704, 0x370E, 0x3712, 0x3701


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a .msg file. Raises InputError: EXTRACTION_FAILED when damaged, ENCRYPTED_DOCUMENT for S/MIME."""
    builder = context.builder()
    try:
        with olefile.OleFileIO(str(path)) as ole:
            store = Store(ole)
            if "SMIME" in store.text(_CLASS).upper() and "MULTIPARTSIGNED" not in store.text(_CLASS).upper():
                raise InputError("the message is encrypted (S/MIME)", Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT)
            add_headers(builder, fields(store))
            body = body_of(store)
            files = attachments(store, builder, 0)
    except _BROKEN as error:
        raise InputError(f"the Outlook message is damaged: {error}", stage=Stage.EXTRACT) from error
    if body is None:
        _add_rtf(builder, path)
    add_content(builder, [body] if body is not None else [], files, context)
    return builder.finish()


def fields(store: Store) -> Message:
    """The header fields as a message of its own, without a body."""
    message = Message()
    sender = _address(
        store.text(_SENDER_NAME, _SENT_NAME), store.text(_SENDER_SMTP) or _if_smtp(store.text(_SENDER_ADDRESS))
    )
    sent = store.time(_SUBMITTED) or store.time(_DELIVERED)
    recipients = _recipients(store)
    for name, value in (
        ("Subject", store.text(_SUBJECT)),
        ("From", sender),
        ("To", recipients.get(1) or store.text(_DISPLAY_TO)),
        ("Cc", recipients.get(2) or store.text(_DISPLAY_CC)),
        ("Bcc", recipients.get(3) or store.text(_DISPLAY_BCC)),
        ("Date", format_datetime(sent) if sent else ""),
        ("Message-ID", store.text(_MESSAGE_ID)),
    ):
        value = " ".join(value.split())
        if value:
            message[name] = value
    return message


def _recipients(store: Store) -> dict[int, str]:
    """Recipients by kind: 1 to, 2 copy, 3 blind copy."""
    found: dict[int, list[str]] = {}
    for name in store.storages("__recip_version1.0_#")[:1000]:
        recipient = store.sub(name)
        address = recipient.text(_SMTP) or _if_smtp(recipient.text(_ADDRESS))
        shown = _address(recipient.text(_NAME), address)
        if shown:
            found.setdefault(recipient.number(_RECIPIENT_TYPE) or 1, []).append(shown)
    return {kind: ", ".join(names) for kind, names in found.items()}


def _if_smtp(address: str) -> str:
    """Inside an organisation the address is an X.500 name that says nothing to a reader."""
    return address if "@" in address else ""


def _address(name: str, address: str) -> str:
    name = name.strip().strip("'\"")
    if not address or address.lower() == name.lower():
        return name or address
    return f"{name} <{address}>" if name else address


def body_of(store: Store) -> Body | None:
    """The plain body with the HTML one as its twin; None when there is neither (then RTF may hold it)."""
    plain = store.text(_BODY)
    raw = store.data(_HTML)
    declared = store.html_charset()
    html = (decode(raw, declared).text if declared else decode_html(raw).text) if raw else store.text(_HTML)
    if plain.strip():
        return Body("plain", plain, html)
    return Body("html", html) if html.strip() else None


def _rtf(store: Store) -> bytes:
    """The RTF body ([MS-OXRTFCP]); empty when there is none or it is damaged."""
    packed = store.data(_RTF)
    if not packed:
        return b""
    import compressed_rtf

    try:
        return bytes(compressed_rtf.decompress(packed))
    except (ValueError, IndexError, struct.error):
        return b""


def _add_rtf(builder: Builder, path: Path) -> None:
    with olefile.OleFileIO(str(path)) as ole:
        rtf = _rtf(Store(ole))
    if rtf:
        from engine.extract.flow import emit
        from engine.extract.rtf.reader import read

        emit(builder, read(rtf, builder))


def attachments(store: Store, builder: Builder, depth: int) -> list[File]:
    """Everything attached, embedded messages as .eml files."""
    found: list[File] = []
    for number, name in enumerate(store.storages("__attach_version1.0_#"), 1):
        part = store.sub(name)
        shown = part.text(_LONG_NAME, _SHORT_NAME, _NAME) or f"attachment-{number}"
        if part.has(_EMBEDDED):
            inner = part.sub(_EMBEDDED)
            if not inner.has("__properties_version1.0"):
                builder.warn("ole_object_skipped", "an embedded OLE object holds no document", place=shown)
            elif depth >= _MAX_DEPTH:
                builder.warn("attachment_skipped", "messages nested beyond all reason were left out", place=shown)
            else:
                shown = inner.text(_SUBJECT) or shown
                found.append(File(f"{shown[:120]}.eml", "message/rfc822", as_eml(inner, builder, depth + 1)))
            continue
        mime = part.text(_MIME) or "application/octet-stream"
        content_id = part.text(_CONTENT_ID).strip().strip("<>")
        found.append(File(shown, mime, part.data(_DATA), mime.startswith("image/") and bool(content_id), content_id))
    return found


def as_eml(store: Store, builder: Builder, depth: int) -> bytes:
    """An embedded message in Internet format, with its own attachments."""
    whole = MIMEMultipart("mixed")
    for name, value in fields(store).items():
        whole[name] = Header(value, "utf-8").encode()
    body = body_of(store)
    if body is not None:
        both = MIMEMultipart("alternative")
        both.attach(MIMEText(body.text, body.kind, "utf-8"))
        if body.twin:
            both.attach(MIMEText(body.twin, "html", "utf-8"))
        whole.attach(both)
    for file in attachments(store, builder, depth):
        main, _, sub = file.mime.partition("/")
        part = MIMEBase(main, sub or "octet-stream")
        part.set_payload(file.data)
        encoders.encode_base64(part)
        part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", file.name))
        whole.attach(part)
    return whole.as_bytes()
