"""Options of verbs that read samples, each defined once."""

from __future__ import annotations

from typing import Annotated

import typer

MeanOption = Annotated[
    str | None,
    typer.Option("--mean", metavar="M,...", help="Mean of images, in units of 0 to 1, one or per channel."),
]
StdOption = Annotated[
    str | None,
    typer.Option(
        "--std", metavar="S,...", help="Standard deviation of images, in units of 0 to 1, one or per channel."
    ),
]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="Y.npy",
        help="Labels of the samples: classes or values; OUTPUT=Y.npy for one of several outputs.",
    ),
]
