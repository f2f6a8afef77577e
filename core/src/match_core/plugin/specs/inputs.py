# mypy: disable-error-code="empty-body"
"""Chips, model files, rewrites of models, and patterns of units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.contract.front_end import FrontEnd
    from match_core.contract.hardware import Hardware, Soc, Unit
    from match_core.contract.passes import Pass
    from match_core.contract.pattern import Pattern


@hookspec
def match_hardware() -> Hardware:
    """Declare the units and the systems on chip that this package defines.

    Called: once per process, when a target is first requested or listed.

    Arguments: none.

    Returns: a Hardware. Its units need not be used by its own Socs, and a Soc may name units of other
        packages. Names are lower-case C identifiers; they appear in file names, in symbols and on the command
        line.

    Several answers: merged by name. Two packages that define the same unit or Soc name clash: the name is
        withdrawn, and requesting a target that requires it is an error that names both.

    Nobody answers: there is no target to compile for.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_hardware() -> Hardware:
            return Hardware(units=(MYNPU,), socs=(MYCHIP,))
    """


@hookspec
def match_load() -> Sequence[FrontEnd]:
    """Give the front ends of this package: readers of model files that are not ONNX.

    Called: before a model file is read.

    Arguments: none.

    Returns: a tuple of FrontEnd, each with the name of its format. None and () mean no front ends.

    Several answers: all are collected; the first one that recognises the file converts it. Two front ends for the same
        format from two packages are an error that names both.

    Nobody answers: only ONNX files are read.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_load() -> Sequence[FrontEnd]:
            return (FrontEnd("MyFormat", lambda content: content[:4] == b"MYFM", my_convert),)
    """


@hookspec
def match_transforms(soc: Soc) -> Sequence[Pass]:
    """Give the passes that this package runs on every model compiled for a system on chip.

    Called: once per compilation, before the first pass runs.

    Arguments:
        soc: the requested target, even if it belongs to another package. Check its units, never its name: a board
            may have your units under a name of its own. Return none if it has none of them.

    Returns: a tuple of Pass, each with its phase and the names it runs before and after. None and () mean no
        passes.

    Several answers: all passes are collected, the clean-up passes of the core among them, and sorted by phase, then
        by before and after, then by name. Two passes of the same name from two packages are an error that names both.

    Nobody answers: no pass runs.

    May be changed: nothing. A pass works on a copy of the model.

    Example::

        @hookimpl
        def match_transforms(soc: Soc) -> Sequence[Pass]:
            return (SPLIT_WIDE_CONV,) if "mynpu" in soc.units else ()
    """


@hookspec
def match_patterns(soc: Soc, unit: Unit) -> Sequence[Pattern]:
    """Give the patterns that a unit can run, with the rules of its hardware as named constraints.

    Called: for every unit of the requested target that the user has not disabled. It may be called again with
        the same arguments and must then give an equal answer.

    Arguments:
        soc: the requested target.
        unit: the unit in question, even if it belongs to another package.

    Returns: a tuple of Pattern; those of a unit that takes whole regions of operators have ``claims``.
        None and () mean that the unit is not yours or that you have nothing to add.

    Several answers: all are collected; a package may add patterns to a unit of another one. Two patterns of
        the same name for one unit are an error that names both packages. Cost decides, not order.

    Nobody answers: the unit runs nothing, and its nodes go to the other units.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_patterns(soc: Soc, unit: Unit) -> Sequence[Pattern]:
            return PATTERNS if unit.name == "mynpu" else ()
    """
