"""Password-protected Office files: opened with a password that was given, else refused clearly."""

from __future__ import annotations

from pathlib import Path

import msoffcrypto
import olefile

from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.sanitize.ole import OLE_ERRORS
from engine.sanitize.package import OLE_MAGIC

# What Office itself tries first: files that are only protected against changes use it.
_OFFICE_DEFAULT = "VelvetSweatshop"
_KINDS = {"WordDocument": "doc", "Workbook": "xls", "Book": "xls", "PowerPoint Document": "ppt"}


def is_ole(path: Path) -> bool:
    """Whether the file is an OLE compound file, by its first bytes."""
    with path.open("rb") as file:
        return file.read(8) == OLE_MAGIC


def decrypted(path: Path, context: Context, what: str) -> Path:
    """A readable file: `path` itself, or a decrypted copy in scratch.

    Raises InputError: ENCRYPTED_DOCUMENT when no password fits, EXTRACTION_FAILED when an OLE file
    stands where an OOXML one was announced.
    """
    if not is_ole(path):
        return path
    try:
        with olefile.OleFileIO(str(path)) as ole:
            encrypted = ole.exists("EncryptedPackage")
    except OLE_ERRORS as error:
        raise InputError(f"this is not a readable {what}: {error}", stage=Stage.EXTRACT) from error
    if not encrypted:
        raise InputError(f"this is not a {what}: it is a file of the old binary Office formats", stage=Stage.EXTRACT)
    return unlock(path, context)


def unlock(path: Path, context: Context) -> Path:
    """A decrypted copy in scratch. Raises InputError(ENCRYPTED_DOCUMENT) when no password fits."""
    target = context.scratch / f"decrypted-{path.name}"
    for password in [*context.passwords, _OFFICE_DEFAULT]:
        if _try_password(path, target, password):
            return target
    raise InputError(
        "the document is encrypted and needs a password (setting password)", Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT
    )


def legacy_is_encrypted(path: Path) -> bool:
    """Whether a binary Office file (doc, xls, ppt) is encrypted; False where that cannot be told."""
    try:
        with path.open("rb") as file:
            return bool(msoffcrypto.OfficeFile(file).is_encrypted())
    except Exception:  # noqa: BLE001 - the library raises bare exceptions on damaged files; the parser then tells
        return False


def _try_password(path: Path, target: Path, password: str) -> bool:
    try:
        with path.open("rb") as file, target.open("wb") as out:
            office = msoffcrypto.OfficeFile(file)
            office.load_key(password=password)
            office.decrypt(out)
    except Exception:  # noqa: BLE001 - wrong passwords surface as many kinds of errors; the caller refuses the file
        target.unlink(missing_ok=True)
        return False
    return True
