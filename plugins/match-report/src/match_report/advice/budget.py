"""Budgets of a program: bytes of memories, cycles, time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from match_core.contract.errors import UsageError, did_you_mean
from match_core.contract.sizes import bytes_text, cycles_text, parse_bytes, seconds_text

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|ms|us)")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@dataclass(frozen=True, slots=True)
class Budget:
    """``limit``: bytes of the memory ``name``, or cycles; a latency is stored as cycles of the Soc's clock ``clock_hz``
    (0 for the other kinds)."""

    name: str
    kind: Literal["memory", "cycles", "latency"]
    text: str
    limit: int
    clock_hz: float = 0.0

    def told(self, amount: int) -> str:
        """An amount as text, with the budget's unit."""
        if self.kind == "latency":
            return seconds_text(amount / self.clock_hz)
        return bytes_text(amount) if self.kind == "memory" else cycles_text(amount)

    def option(self, amount: int) -> str:
        """The command-line option for this budget with another amount."""
        if self.kind == "latency":
            return f"--budget {self.name}={amount / self.clock_hz * 1e6 + 0.5:.0f}us"
        return f"--budget {self.name}={amount}"


def parse_budget(text: str, soc: Soc) -> Budget:
    """``l2=512k``, ``cycles=2000000``, ``latency=10ms``. UsageError MATCH-U034."""
    name, equals, amount = (part.strip() for part in text.partition("="))
    if not name or not equals:
        raise _refused(text, "it does not have the form NAME=AMOUNT", soc)
    if name == "latency":
        return _latency(text, amount, soc)
    limit = parse_bytes(amount)
    if not limit:
        raise _refused(text, f"{amount!r} is not an amount; write a number such as 512k", soc)
    if name == "cycles":
        return Budget(name, "cycles", text, limit)
    if name not in {memory.name for memory in soc.memories}:
        known = ("cycles", "latency", *(memory.name for memory in soc.memories))
        close = did_you_mean(name, known, f"--budget {{}}={amount}")
        raise _refused(text, f"{soc.name} has no memory {name!r}", soc, close)
    return Budget(name, "memory", text, limit)


def _latency(text: str, amount: str, soc: Soc) -> Budget:
    parts = _TIME.fullmatch(amount)
    if parts is None:
        raise _refused(text, f"{amount!r} is not a time with a unit; write for example 10ms", soc)
    if soc.clock_hz is None:
        raise _refused(text, f"{soc.name} states no clock frequency, so cycles cannot be converted to time", soc)
    seconds = float(parts[1]) * _SECONDS[parts[2]]
    return Budget("latency", "latency", text, int(seconds * soc.clock_hz.value), soc.clock_hz.value)


def _refused(text: str, why: str, soc: Soc, close: tuple[str, ...] = ()) -> UsageError:
    names = ", ".join(memory.name for memory in soc.memories)
    return UsageError(
        code="MATCH-U034",
        what="the budget is not valid",
        where=f"--budget {text}",
        why=why,
        help=(
            *close,
            f"name a memory of {soc.name} ({names}), cycles, or latency: l2=512k, cycles=2000000, latency=10ms",
        ),
    )
