"""Plug-ins announced by installed packages (Python entry points), looked up once per process: the look reads the
metadata of every installed package, far too slow to repeat for each document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from types import MappingProxyType


@lru_cache(maxsize=8)
def announced(group: str) -> Mapping[str, str]:
    """Entry points of a group, name → import path `module:function`."""
    return MappingProxyType({point.name: point.value for point in entry_points(group=group)})
