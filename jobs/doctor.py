"""Is this machine fit for the work? Each check says what is wrong and how to mend it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from engine.errors import CorpusError
from engine.settings import Settings

Found = dict[str, Any]
Check = Callable[[Settings], str]


def _python(settings: Settings) -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _registry(settings: Settings) -> str:
    from engine.registry.queries import open_registry, registry_url

    open_registry(settings).projects()
    return registry_url(settings).split("@")[-1]


def _store(settings: Settings) -> str:
    from engine.store.open import open_store

    store = open_store(settings, ray=False)
    try:
        return ", ".join(f"{name} ({size}-d)" for name, size in store.vectors().items()) or "empty"
    finally:
        store.close()


def _model(settings: Settings) -> str:
    from engine.embed.make import make_embedder

    embedder = make_embedder(settings)
    embedder.embed_documents(["one sentence"])
    return f"{embedder.info.model}, {embedder.info.dimensions}-d, {embedder.info.max_tokens} tokens"


def _isolation(settings: Settings) -> str:
    from engine.isolate import Slot

    slot = Slot("jobs.doctor:network_probe", settings.limits)
    answer = slot.call(b"").decode()
    slot.close()
    if "without" not in answer:
        raise CorpusError(
            f"{answer}: allow user namespaces (sysctl user.max_user_namespaces) or, in a container, CAP_SYS_ADMIN; "
            "nothing is fetched on purpose, but nothing enforces it either"
        )
    return answer


def network_probe(request: bytes) -> bytes:
    """Served by an isolated child: can it see any network interface but its own loopback?"""
    import socket

    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    return b"children run without network" if not others else b"children can reach the network on this system"


def _tesseract(settings: Settings) -> str:
    if not settings.ocr.enabled:
        return "OCR is off"
    if shutil.which("tesseract") is None:
        raise CorpusError("Tesseract is missing: apt install tesseract-ocr tesseract-ocr-osd")
    listed = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, timeout=30, check=True)
    return "languages " + " ".join(listed.stdout.split("\n")[1:]).strip()


def _layout_model(settings: Settings) -> str:
    from engine.extract.pdf.layout_model import available

    if settings.extraction.profile == "fast":
        return "not used by extraction.profile: fast"
    if not available():
        raise CorpusError("the layout model is missing, PDF pages are read by geometry alone: install pymupdf>=2")
    return f"found, for extraction.profile: {settings.extraction.profile}"


def _office(settings: Settings) -> str:
    if shutil.which("soffice") is None:
        raise CorpusError(
            "LibreOffice is missing, .doc and .ppt will fail: "
            "apt install libreoffice-writer-nogui libreoffice-impress-nogui libreoffice-calc-nogui"
        )
    return "soffice found"


def _shared_memory(settings: Settings) -> str:
    free = shutil.disk_usage("/dev/shm").free >> 20
    if free < 512:
        raise CorpusError(f"/dev/shm has {free} MiB free; Ray wants more (docker run --shm-size=4g)")
    return f"/dev/shm has {free} MiB free"


def _disk(settings: Settings) -> str:
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return f"{shutil.disk_usage(settings.home).free >> 20} MiB free under {settings.home}"


CHECKS: dict[str, Check] = {
    "python": _python,
    "disk": _disk,
    "shared memory": _shared_memory,
    "isolation": _isolation,
    "tesseract": _tesseract,
    "layout model": _layout_model,
    "libreoffice": _office,
    "registry": _registry,
    "store": _store,
    "embedding model": _model,
}


def examine(settings: Settings) -> Found:
    """Run every check; none stops the others."""
    return {
        "checks": [_examined(name, check, settings) for name, check in CHECKS.items()],
        "settings": _shown(settings),
    }


def _examined(name: str, check: Check, settings: Settings) -> Found:
    try:
        return {"name": name, "ok": True, "found": check(settings)}
    except (CorpusError, OSError, subprocess.SubprocessError) as error:
        return {"name": name, "ok": False, "found": getattr(error, "message", str(error))}


def _shown(settings: Settings) -> Found:
    tree = settings.model_dump(mode="json")  # secrets come out masked
    url = tree["registry"]["url"]
    if "@" in url:
        tree["registry"]["url"] = f"{url.split('://')[0]}://***@{url.split('@')[-1]}"
    return tree


def doctor_text(found: Found) -> str:
    """Checks, then the settings as YAML."""
    import yaml

    lines = [f"{'ok ' if c['ok'] else 'BAD'} {c['name']:<16} {c['found']}" for c in found["checks"]]
    return "\n".join([*lines, "", "# effective settings", yaml.safe_dump(found["settings"], sort_keys=False).rstrip()])
