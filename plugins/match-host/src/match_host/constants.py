"""Cycles of the host's operations in one table.

The core knows no chip, so these are estimates from instruction counts: single issue, one cycle per instruction, a
second one for loads and stores that leave the core, three for a taken branch.
"""

from __future__ import annotations

from dataclasses import replace

from match_core.contract.hardware import Constant


def _cycles(name: str, value: float, reasoning: str) -> Constant:
    return Constant(name, value, "cycles", f"instruction count, RV32IMFC in order: {reasoning}", estimate=True)


#: Cycles of one operation of each class of ``match_host.kernels.work.Work``.
OPERATION_CYCLES: tuple[Constant, ...] = (
    _cycles("memory", 2, "issue and one wait cycle"),
    _cycles("integer", 1, "one ALU instruction"),
    _cycles("wide", 4, "64 bits in two registers: add, sltu, add, add"),
    _cycles("wide_multiply", 10, "mul, mulhu, mul, mul, add, add with two-cycle high products and moves"),
    _cycles("divide", 35, "bit-serial div"),
    _cycles("wide_divide", 150, "library call, about 64 steps of shift and subtract"),
    _cycles("floating", 2, "one FPU instruction with a dependent successor"),
    _cycles("floating_divide", 12, "iterative fdiv or fsqrt"),
    _cycles("special", 80, "library call: range reduction and a polynomial of degree 6 to 8"),
    _cycles("half", 9, "shifts, masks and two selections on the bits, a move between register files"),
    _cycles("macs", 9, "lbu, lb, mul, add, two pointer increments, taken branch"),
    _cycles("floating_macs", 13, "flw, flw with wait cycles, fmul, fadd, two pointer increments, taken branch"),
    _cycles("tile_macs", 2, "mul, add"),
    _cycles("floating_tile_macs", 3, "fmul, fadd, a wait between them"),
    _cycles("steps", 4, "index increment and taken branch"),
)
CALL_CYCLES = Constant("call", 20, "cycles", "instruction count: arguments, jump, saved registers", estimate=True)

#: All of them as the unit states them; measured cycles may replace them.
HOST_CONSTANTS = tuple(
    replace(constant, name=f"host_{constant.name}_cycles", may_fit=True)
    for constant in (*OPERATION_CYCLES, CALL_CYCLES)
)
