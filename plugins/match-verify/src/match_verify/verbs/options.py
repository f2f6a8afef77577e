"""Options of verbs that read samples and run programs, each defined once."""

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
OnOption = Annotated[
    str,
    typer.Option("--on", metavar="RUNNER", help="Where the program runs: twin, or RUNNER[:CHOICE] of a package."),
]
PortOption = Annotated[
    str | None, typer.Option("--port", metavar="DEVICE", help="With --on serial: the serial line of the board.")
]
FlashOption = Annotated[
    str | None,
    typer.Option(
        "--flash", metavar="COMMAND", help="With --on serial: the command that programs the board; {elf}: the image."
    ),
]
BaudOption = Annotated[
    str | None, typer.Option("--baud", metavar="RATE", help="With --on serial: bits per second; default: 115200.")
]
SanitizeOption = Annotated[
    bool, typer.Option("--sanitize", help="Build with address and undefined-behaviour sanitizers (slower).")
]
