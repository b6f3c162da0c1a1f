"""The two bounds of a run: tokens and time. Nothing is spent that was not reserved before."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Budget:
    """`total` tokens for the whole plan. `refused`: whether something was turned away because it did not fit."""

    total: int
    spent: int = 0
    refused: bool = False

    @property
    def left(self) -> int:
        return self.total - self.spent

    def reserve(self, tokens: int) -> bool:
        """Take `tokens` for something about to be read; False, and nothing taken, when they are not left."""
        if tokens > self.left:
            self.refused = True
            return False
        self.spent += tokens
        return True


@dataclass(slots=True)
class Clock:
    """`seconds` from when it is made. `ran_out`: whether something was left undone for want of time."""

    seconds: float
    ran_out: bool = False
    _start: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._start

    def allows(self) -> bool:
        """Whether there is time to begin something more."""
        if self.elapsed < self.seconds:
            return True
        self.ran_out = True
        return False
