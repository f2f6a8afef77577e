"""Budgets of a program: bytes of memories, cycles, time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from match_core.contract.errors import UsageError, did_you_mean
from match_core.io.sizes import bytes_text, parse_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def parse_budgets(texts: Sequence[str], soc: Soc) -> list[Budget]:
    """One for each text. UsageError MATCH-U034, also if two are for the same quantity."""
    budgets: dict[str, Budget] = {}
    for text in texts:
        budget = parse_budget(text, soc)
        if other := budgets.get(budget.name):
            raise _refused(text, f"there is another one for it, {other.text}", soc, (f"omit --budget {other.text}",))
        budgets[budget.name] = budget
    return list(budgets.values())


def parse_budget(text: str, soc: Soc) -> Budget:
    """``l2=512k``, ``cycles=2000000``, ``latency=10ms``. UsageError MATCH-U034."""
    name, equals, amount = (part.strip() for part in text.partition("="))
    if not name or not equals:
        raise _refused(text, "it does not have the form NAME=AMOUNT", soc)
    if name == "latency":
        return _latency(text, amount, soc)
    limit = parse_bytes(amount)
    if not limit:
        raise _refused(text, f"{amount!r} is not a number from 1, such as 512k", soc)
    if name == "cycles":
        return Budget(name, "cycles", text, limit)
    if name not in {memory.name for memory in soc.memories}:
        known = ("cycles", "latency", *(memory.name for memory in soc.memories))
        close = did_you_mean(name, known, f"--budget {{}}={amount}")
        memories = ", ".join(memory.name for memory in soc.memories)
        raise _refused(text, f"{soc.name} has no memory {name!r}; its memories are {memories}", soc, close)
    return Budget(name, "memory", text, limit)


def _latency(text: str, amount: str, soc: Soc) -> Budget:
    parts = _TIME.fullmatch(amount)
    if parts is None:
        raise _refused(text, f"{amount!r} is not a time in s, ms or us", soc)
    if soc.clock_hz is None:
        raise _refused(text, f"{soc.name} states no clock frequency, so cycles cannot be converted to time", soc)
    seconds = float(parts[1]) * _SECONDS[parts[2]]
    return Budget("latency", "latency", text, int(seconds * soc.clock_hz.value), soc.clock_hz.value)


def _refused(text: str, why: str, soc: Soc, close: tuple[str, ...] = ()) -> UsageError:
    amounts = {"cycles": "2000000", **({"latency": "10ms"} if soc.clock_hz else {}), soc.home: "512k"}
    help_ = tuple(f"for example --budget {name}={amount}" for name, amount in amounts.items())
    return UsageError("MATCH-U034", "the budget is not valid", f"--budget {text}", why, close or help_)


def cycles_text(count: int) -> str:
    """Cycles for people: ``1,234 cycles``."""
    return f"{count:,} cycles"


def seconds_text(seconds: float) -> str:
    """A duration for people, in s, ms or us: ``1.25 ms``."""
    factor, name = next(((f, n) for f, n in ((1, "s"), (1e3, "ms")) if seconds * f >= 1), (1e6, "us"))
    return f"{seconds * factor:,.2f} {name}"
