"""Macros of a program with which a platform places constants and code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.naming import c_identifier

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc


def constant_section(name: str, soc: Soc) -> str:
    """The macro before the constants of program ``name``, after their memory: the home, or a mapped store."""
    memory = (soc.store if soc.mapped else None) or soc.home
    return f"{name.upper()}_{c_identifier(memory).upper()}_CONST_SECTION"


def code_section(name: str, unit: str) -> str:
    """The macro before the functions of program ``name`` that run on a unit."""
    return f"{name.upper()}_{c_identifier(unit).upper()}_CODE_SECTION"
