"""Sorts the parts of a message: readable bodies in order, attachments, inline pictures, what is encrypted."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass, field
from email.message import Message

from engine.decode import decode
from engine.extract.mail.headers import filename_of, header
from engine.extract.mail.smime import signed_content

_MAX_DEPTH = 40  # multiparts inside multiparts of one message
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_PKCS7 = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_PGP_BLOCK = re.compile(r"-----BEGIN PGP MESSAGE-----.*?(?:-----END PGP MESSAGE-----|\Z)", re.DOTALL)
_CLEAR_SIGNED = re.compile(
    r"-----BEGIN PGP SIGNED MESSAGE-----\r?\n(?:[^\n]+\n)*\r?\n(.*?)-----BEGIN PGP SIGNATURE-----.*?"
    r"(?:-----END PGP SIGNATURE-----|\Z)",
    re.DOTALL,
)


@dataclass(slots=True)
class Body:
    """A readable text: `kind` is plain or html; `twin` its other form in a multipart/alternative."""

    kind: str
    text: str
    twin: str = ""


@dataclass(slots=True)
class File:
    """Something attached. `inline` pictures belong to the body's layout."""

    name: str
    mime: str
    data: bytes
    inline: bool = False
    content_id: str = ""


@dataclass(slots=True)
class Parts:
    bodies: list[Body] = field(default_factory=lambda: list[Body]())
    files: list[File] = field(default_factory=lambda: list[File]())
    encrypted: int = 0
    signatures: int = 0
    unreadable: int = 0


def sort_parts(message: Message) -> Parts:
    """All parts of a message, messages inside it as files."""
    found = Parts()
    _visit(message, found, 0)
    return found


def _visit(part: Message, found: Parts, depth: int) -> None:
    kind = part.get_content_type().lower()
    if depth > _MAX_DEPTH:
        found.unreadable += 1
    elif kind == "multipart/encrypted":
        found.encrypted += 1
    elif kind in _PKCS7:
        _pkcs7(part, found, depth)
    elif kind in _SIGNATURES:
        found.signatures += 1
    elif kind == "message/rfc822" or (kind == "message/global" and part.is_multipart()):
        _message(part, found)
    elif kind == "message/delivery-status" and part.is_multipart():
        fields = [f"{name}: {value}" for block in _children(part) for name, value in block.items()]
        found.bodies.append(Body("plain", "\n".join(fields)))
    elif kind == "multipart/alternative" and part.is_multipart():
        _alternative(part, found, depth)
    elif part.is_multipart():
        for child in _children(part):
            _visit(child, found, depth + 1)
    else:
        _leaf(part, "text/plain" if kind.startswith("multipart/") else kind, found)


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [p for p in payload if isinstance(p, Message)] if isinstance(payload, list) else []


def _alternative(part: Message, found: Parts, depth: int) -> None:
    """The same content several times: the plain form with the HTML one as its twin; files of either are kept."""
    inner = Parts()
    for child in _children(part):
        _visit(child, inner, depth + 1)
    plain = [b.text for b in inner.bodies if b.kind == "plain" and b.text.strip()]
    html = [b.text for b in inner.bodies if b.kind == "html" and b.text.strip()]
    if plain and html:
        inner.bodies = [Body("plain", "\n\n".join(plain), "\n".join(html))]
    found.bodies += inner.bodies
    found.files += inner.files
    found.encrypted += inner.encrypted
    found.signatures += inner.signatures
    found.unreadable += inner.unreadable


def _leaf(part: Message, kind: str, found: Parts) -> None:
    name = filename_of(part)
    disposition = (part.get_content_disposition() or "").lower()
    is_text = kind in ("text/plain", "text/html", "text/enriched", "text/richtext", "message/delivery-status")
    if is_text and disposition != "attachment" and not (name and kind == "text/plain" and found.bodies):
        _body(part, kind, found)
        return
    data = payload(part)
    if data or name:
        content_id = str(part.get("Content-ID") or "").strip().strip("<>")
        inline = kind.startswith("image/") and disposition != "attachment" and bool(content_id)
        found.files.append(File(name or _unnamed(kind, len(found.files)), kind, data, inline, content_id))


def payload(part: Message) -> bytes:
    """A part's bytes, its transfer encoding undone as far as it is sound."""
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError):  # an unknown or broken transfer encoding
        data = str(part.get_payload()).encode("utf-8", "surrogateescape")
    return data if isinstance(data, bytes) else b""


def _body(part: Message, kind: str, found: Parts) -> None:
    text = decode(payload(part), part.get_content_charset() or None).text
    if kind == "text/html":
        found.bodies.append(Body("html", text))
        return
    signed = _CLEAR_SIGNED.search(text)
    if signed:
        text = text[: signed.start()] + signed[1] + text[signed.end() :]
        found.signatures += 1
    text, blocks = _PGP_BLOCK.subn("", text)
    found.encrypted += blocks
    if str(part.get_param("format", "")).lower() == "flowed":
        text = unflow(text, str(part.get_param("delsp", "")).lower() == "yes")
    found.bodies.append(Body("plain", text))


def unflow(text: str, delete_space: bool) -> str:
    """Join the soft-broken lines of format=flowed (RFC 3676), quoted ones at their depth; the signature mark stays."""
    lines: list[str] = []
    open_depth = -1  # of the line before, while it is to be continued
    for line in text.replace("\r\n", "\n").split("\n"):
        body = line.lstrip(">")
        depth = len(line) - len(body)
        body = body[1:] if body.startswith(" ") else body
        soft = body.endswith(" ") and body != "-- "
        kept = body[:-1] if soft and delete_space else body
        if depth == open_depth and body != "-- ":
            lines[-1] += kept
        else:
            lines.append(f"{'>' * depth} {kept}" if depth else kept)
        open_depth = depth if soft else -1
    return "\n".join(lines)


def _message(part: Message, found: Parts) -> None:
    children = _children(part)
    if not children:
        data = payload(part)
        if data:
            found.files.append(
                File(filename_of(part) or _unnamed("message/rfc822", len(found.files)), "message/rfc822", data)
            )
        return
    name = filename_of(part) or header(children[0], "Subject") or f"message-{len(found.files) + 1}"
    name = re.sub(r"[/\\:*?\"<>|]+", " ", name).strip() or "message"
    name = name if name.lower().endswith((".eml", ".msg")) else f"{name[:120]}.eml"
    found.files.append(File(name, "message/rfc822", _serialised(children[0])))


def _serialised(message: Message) -> bytes:
    try:
        return message.as_bytes()
    except (UnicodeError, LookupError, KeyError, AttributeError, TypeError, ValueError):  # malformed headers
        return str(message).encode("utf-8", "surrogateescape")


def _pkcs7(part: Message, found: Parts, depth: int) -> None:
    """S/MIME (RFC 8551): an opaquely signed message can be read, an enveloped one cannot."""
    data = payload(part)
    content = signed_content(data)
    if content is None:
        found.encrypted += 1
        return
    from email import message_from_bytes

    found.signatures += 1
    _visit(message_from_bytes(content), found, depth + 1)


def _unnamed(kind: str, number: int) -> str:
    extension = {
        "message/rfc822": ".eml",
        "text/rfc822-headers": ".eml",
        "text/plain": ".txt",
        "image/jpeg": ".jpg",
    }.get(kind)
    return f"attachment-{number + 1}{extension or mimetypes.guess_extension(kind) or '.bin'}"
