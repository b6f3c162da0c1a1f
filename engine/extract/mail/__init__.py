"""E-mail: headers, body, attachments as child documents (`eml`); every message of a mailbox a child (`mbox`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path
from urllib.parse import unquote

from engine.decode import decode, wide_encoding
from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.children import Children
from engine.extract.html.inline import Pictures
from engine.extract.mail.bodies import add_body
from engine.extract.mail.headers import SHOWN, date_of, header
from engine.extract.mail.parts import Body, File, Parts, sort_parts
from engine.records import ExtractedDocument, ExtractedImage

MAX_IMAGE_BYTES = 8 << 20
_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n)|(?<=\n))From [^\r\n]*\d{4}[^\r\n]*\r?\n(?=>?[!-9;-~]+:)")


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read one message. Raises InputError(ENCRYPTED_DOCUMENT) when nothing of it can be read without a key."""
    builder = context.builder()
    message = parse(path.read_bytes())
    add_headers(builder, message)
    parts = sort_parts(message)
    if parts.encrypted and not any(b.text.strip() for b in parts.bodies):
        raise InputError("the message is encrypted (S/MIME or PGP)", Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT)
    add_content(builder, parts.bodies, parts.files, context)
    _report(builder, parts)
    return builder.finish()


def parse(data: bytes) -> Message:
    """A message from its bytes, also where the whole file is UTF-16 or begins with a byte order mark."""
    if wide_encoding(data) or data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:3] == b"\xef\xbb\xbf":
        data = decode(data).text.encode("utf-8")
    if data.startswith(b"From ") and b"\n" in data:  # a single message kept in mailbox form
        data = data.split(b"\n", 1)[1]
    try:
        return message_from_bytes(data.lstrip(b"\r\n"))
    except RecursionError as error:
        raise InputError("the message nests parts without end", Code.LIMIT_EXCEEDED, Stage.EXTRACT) from error


def add_headers(builder: Builder, message: Message) -> None:
    """Subject as title and heading, the other fields as the first paragraph."""
    subject = header(message, "Subject")
    builder.heading(1, subject)
    lines = [f"{name}: {value}" for name in SHOWN if (value := header(message, name))]
    builder.paragraph("\n".join(lines))
    meta = builder.metadata
    meta.title, meta.author, meta.created_date = subject or None, header(message, "From") or None, date_of(message)
    for name in ("To", "Cc", "Message-ID", "In-Reply-To"):
        if header(message, name):
            meta.extra[name.lower()] = header(message, name)[:2000]


def add_content(builder: Builder, bodies: list[Body], files: list[File], context: Context) -> None:
    """Bodies with the pictures they show in their places, then what is attached."""
    inline = {f.content_id: f for f in files if f.inline and f.content_id and len(f.data) <= MAX_IMAGE_BYTES}

    def find(address: str) -> tuple[str, bytes] | None:  # RFC 2392
        file = inline.get(unquote(address[4:])) if address.lower().startswith("cid:") else None
        return (file.mime, file.data) if file is not None else None

    pictures = Pictures(find)
    for body in bodies:
        add_body(builder, body, context.settings.limits, pictures)
    shown = {unquote(address[4:]) for address in pictures.shown}
    add_files(builder, [f for f in files if f.content_id not in shown], context)


def add_files(builder: Builder, files: list[File], context: Context) -> None:
    """Attachments as children, listed by name; inline pictures as images of this document."""
    children = Children(builder, context)
    listed: list[tuple[int, str, str]] = []
    for file in files:
        if file.inline:
            data = file.data if len(file.data) <= MAX_IMAGE_BYTES else b""
            builder.image(ExtractedImage(data, file.mime, alt_text=file.name))
            continue
        child = children.add(file.name, file.data)
        listed.append((1, "-", f"Attachment: {child.filename if child else file.name}"))
    children.close()
    builder.list_block(listed)


def _report(builder: Builder, parts: Parts) -> None:
    if parts.encrypted:
        builder.warn("encrypted_part", "encrypted parts could not be read", count=parts.encrypted)
    if parts.signatures:
        builder.warn("signature_skipped", "digital signatures were left out, unchecked", count=parts.signatures)
    if parts.unreadable:
        builder.warn("part_skipped", "parts nested beyond all reason were left out", count=parts.unreadable)


# ---------------------------------------------------------------- mailboxes
def extract_mbox(path: Path, context: Context) -> ExtractedDocument:
    """Every message of a mailbox becomes a child; the mailbox's own text lists them."""
    builder = context.builder()
    children = Children(builder, context)
    data = path.read_bytes()
    listed: list[tuple[int, str, str]] = []
    for number, raw in enumerate(messages(data), 1):
        fields = BytesHeaderParser().parsebytes(raw[:65_536])
        subject = header(fields, "Subject") or "(no subject)"
        name = re.sub(r"[/\\:*?\"<>|]+", " ", subject)[:80].strip() or "message"
        if children.add(f"{number:05d} {name}.eml", raw) is not None:
            line = " — ".join(v for v in (subject, header(fields, "From"), header(fields, "Date")) if v)
            listed.append((1, f"{number}.", line))
    children.close()
    if not builder.attached:
        raise InputError("the mailbox holds no message", Code.EXTRACTION_FAILED, Stage.EXTRACT)
    builder.list_block(listed)
    return builder.finish()


def messages(data: bytes) -> Iterator[bytes]:
    """The messages of a mailbox (RFC 4155): between `From ` lines that a header follows; `>From` unquoted."""
    starts = [(m.start(), m.end()) for m in _SEPARATOR.finditer(data)]
    for index, (_, begin) in enumerate(starts):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(data)
        yield re.sub(rb"(?m)^>(>*From )", rb"\1", data[begin:end]).rstrip(b"\r\n") + b"\n"
