# mypy: disable-error-code="empty-body"
"""Where compiled programs can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.contract.runner import Runner


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
