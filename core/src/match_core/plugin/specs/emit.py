# mypy: disable-error-code="empty-body"
"""How a unit is called in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc, Unit
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
