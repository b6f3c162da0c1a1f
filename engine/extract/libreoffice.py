"""Converts office files of old formats with a headless LibreOffice in a process of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.tools import find_program, run

PACKAGES = "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
_RESTART = 81  # LibreOffice asks to be started again after it has set up a new profile
_FILTERS = {
    "docx": "docx:MS Word 2007 XML",
    "pptx": "pptx:Impress MS PowerPoint 2007 XML",
    "xlsx": "xlsx:Calc MS Excel 2007 XML",
}
_PROFILE_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
"""
_SCRIPTING = "/org.openoffice.Office.Common/Security/Scripting"
# No macros, no active content, no link updates, nothing fetched by a reference inside the document.
_PROFILE = (
    (_SCRIPTING, "MacroSecurityLevel", "3"),
    (_SCRIPTING, "DisableMacrosExecution", "true"),
    (_SCRIPTING, "DisableActiveContent", "true"),
    (_SCRIPTING, "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "2"),
    # where the system gives the child no network namespace: a proxy that nobody answers at
    ("/org.openoffice.Inet/Settings", "ooInetProxyType", "1"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetNoProxy", ""),
)


def convert(path: Path, source: str, target: str, context: Context) -> Path:
    """`path` (of format `source`) converted to `target` ("docx", "pptx" or "xlsx"), in scratch.

    Raises InputError: EXTRACTION_TIMEOUT, EXTRACTION_FAILED; CorpusError(MISSING_DEPENDENCY) when LibreOffice
    is not installed. Each call has a profile of its own, so that calls in parallel do not meet.
    """
    home = context.scratch / "libreoffice"
    shutil.rmtree(home, ignore_errors=True)
    profile = home / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_registry(), "utf-8")
    given = home / f"document.{source}"
    shutil.copyfile(path, given)
    command = [
        program(),
        f"-env:UserInstallation={profile.as_uri()}",
        "--headless",
        "--norestore",
        "--nolockcheck",
        "--nodefault",
        "--convert-to",
        _FILTERS[target],
        "--outdir",
        str(home / "out"),
        str(given),
    ]
    seconds = context.settings.limits.tool_seconds
    finished = run(command, seconds, home)
    if finished.returncode == _RESTART:
        finished = run(command, seconds, home)
    result = home / "out" / f"document.{target}"
    if not result.exists() or result.stat().st_size == 0:
        reason = finished.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
        message = f"LibreOffice could not convert the document: {reason[0][:200]}"
        raise InputError(message, Code.EXTRACTION_FAILED, Stage.EXTRACT, {"exit": finished.returncode})
    given.unlink()
    return result


def _registry() -> str:
    """LibreOffice's configuration file with the settings of `_PROFILE`."""
    items = (
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>\n'
        for path, name, value in _PROFILE
    )
    return _PROFILE_HEAD + "".join(items) + "</oor:items>\n"


def program() -> str:
    """Path of LibreOffice's own binary rather than its start script, so that it dies with us."""
    script = Path(find_program(("soffice", "libreoffice"), PACKAGES)).resolve()
    binary = script.with_name("soffice.bin")
    return str(binary if binary.exists() else script)
