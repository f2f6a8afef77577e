"""Macros of a program with which a platform places constants and code."""

from __future__ import annotations

from match_core.ir.naming import c_identifier


def constant_section(name: str, memory: str) -> str:
    """The macro before the constants of program ``name`` in a memory."""
    return f"{name.upper()}_{c_identifier(memory).upper()}_CONST_SECTION"


def code_section(name: str, unit: str) -> str:
    """The macro before the functions of program ``name`` that run on a unit."""
    return f"{name.upper()}_{c_identifier(unit).upper()}_CODE_SECTION"
