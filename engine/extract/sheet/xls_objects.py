"""Whether an Excel 97-2003 workbook draws charts or text boxes over its cells, which its reader does not see."""

from __future__ import annotations

import struct
from pathlib import Path

import olefile

from engine.sanitize.ole import OLE_ERRORS

# Record types and object kinds of [MS-XLS] 2.3 and 2.5.143.
_BOF, _OBJECT = 0x0809, 0x005D
_CHART_SHEET = 0x0020  # document type of a BOF
_CHART, _TEXT_BOX = 0x05, 0x06


def draws(path: Path) -> bool:
    """Whether the workbook has a chart or a text box; False for a file that is no OLE container."""
    try:
        with olefile.OleFileIO(str(path)) as ole:
            name = next((n for n in ("Workbook", "Book") if ole.exists(n)), "")
            data = ole.openstream(name).read() if name else b""
    except OLE_ERRORS:
        return False
    return _draws(data)


def _draws(data: bytes) -> bool:
    offset = 0
    while offset + 4 <= len(data):
        kind, size = struct.unpack_from("<2H", data, offset)
        if kind == _BOF and size >= 4 and struct.unpack_from("<H", data, offset + 6)[0] == _CHART_SHEET:
            return True
        if kind == _OBJECT and size >= 6 and struct.unpack_from("<H", data, offset + 8)[0] in {_CHART, _TEXT_BOX}:
            return True
        offset += 4 + size
    return False
