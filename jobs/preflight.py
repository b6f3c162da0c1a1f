"""Checks before any work: is there something to do, is there room, are the programs there?"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from engine.errors import ConfigError, SourceError, Stage
from engine.report import Totals
from engine.scratch import scratch_root
from engine.settings import Settings

if TYPE_CHECKING:
    from jobs.worklist import WorkList

MARGIN_BYTES = 256 << 20


def check_ready(settings: Settings, totals: Totals, work: WorkList) -> None:
    """Raise SourceError for an empty source, ConfigError when the disk has no room for the work."""
    if totals.inputs == 0 and totals.missing == 0:
        raise SourceError("the source holds no documents: check the path, the prefix and your rights", stage=Stage.LIST)
    # Vectors and payload take about as much as the text they come from; sources are mostly larger than their text.
    _check_room(str(settings.home), work.bytes, "home", remote=bool(settings.store.url))
    _check_room(str(scratch_root(settings)), settings.limits.file_mb << 20, "scratch")


def _check_room(folder: str, wanted: int, name: str, remote: bool = False) -> None:
    if remote:
        return
    free = shutil.disk_usage(folder).free
    if free < wanted + MARGIN_BYTES:
        raise ConfigError(
            f"no space: {free >> 20} MiB free under {folder} (setting {name}), about {(wanted + MARGIN_BYTES) >> 20} "
            "MiB needed"
        )
