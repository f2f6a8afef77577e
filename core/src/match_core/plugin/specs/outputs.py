# mypy: disable-error-code="empty-body"
"""Code of units, places where programs run, and verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.contract.commands import Command
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.runner import Runner
    from match_core.contract.unit_api import UnitApi


@hookspec(firstresult=True)
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """Give the C functions, runtime files and twin through which a unit is used.

    Called: for each unit that may be used, when the program is planned and when it is written. It may be called
        again with the same arguments and must then give an equal answer.

    Arguments:
        soc: the requested target.
        unit: the unit that is to be called.

    Returns: a UnitApi with the platform, memory, synchronisation and computation functions (kernels by
        pattern name), headers, runtime files and the twin; or None to leave the answer to others.

    Several answers: the first one that is not None wins. Packages are called in the order of (distribution,
        entry point); ``tryfirst`` and ``trylast`` move an implementation within that order.

    Nobody answers: no C can be written for the unit, which is an error that names the unit and its package.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
            return MYNPU_API if unit.name == "mynpu" else None
    """


@hookspec
def match_runners() -> Sequence[Runner]:
    """Give the runners of this package: places where compiled programs run, besides the twin.

    Called: when the user names a runner with ``--on``, and by ``match doctor``.

    Arguments: none.

    Returns: a tuple of Runner. None and () mean no runners.

    Several answers: all are collected. Two runners of one name from two packages are an error that names both.

    Nobody answers: programs run on the twin only.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_runners() -> Sequence[Runner]:
            return (Runner("mysim", "the vendor's simulator", run_on_simulator),)
    """


@hookspec
def match_commands() -> Sequence[Command]:
    """Give the verbs that this package adds to the command ``match``.

    Called: once per command line, before it is parsed.

    Arguments: none.

    Returns: a tuple of Command. None and () mean no verbs.

    Several answers: all are collected. A verb that two packages define, or that the core has, is a fault of the
        packages and is left out.

    Nobody answers: the command has the verbs of the core.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_commands() -> Sequence[Command]:
            return (Command("hello", "Say hello.", lambda: hello_command),)
    """
