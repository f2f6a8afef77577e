"""The command ``match``: verbs, and the one place where errors become text and exit codes.

Exit codes: 0 done; 1 the model cannot be deployed or verification failed; 2 usage; 3 a plugin's fault;
70 internal error; 130 interrupted; 141 whoever read the output has gone.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, NoReturn

import typer

from match_core.cli import interrupts
from match_core.cli.check import check_command
from match_core.cli.compile import compile_command
from match_core.cli.diff import diff_command
from match_core.cli.doctor import doctor_command
from match_core.cli.explain import explain_command
from match_core.cli.fit import fit_command
from match_core.cli.new_target import new_target_command
from match_core.cli.plugins import plugins_command
from match_core.cli.quantize import quantize_command
from match_core.cli.report import report_command
from match_core.cli.run import run_command
from match_core.cli.targets import targets_command
from match_core.cli.terminal import Terminal, prepare_streams
from match_core.cli.test_target import test_target_command
from match_core.cli.verify import verify_command
from match_core.errors import MatchError, UsageError

EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141
TRACEBACK_VARIABLE = "MATCH_TRACEBACK"

#: What typer raises for a command line that it cannot parse. Its home moved between versions (click, then a
#: copy in typer), so it is reached through the one public subclass.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[1]


class InternalError(MatchError):
    """Any exception that is not meant for the user, told in the same form."""

    exit_code = EXIT_INTERNAL


app = typer.Typer(
    name="match",
    help="Compile neural networks (ONNX) to C for chips that mix unlike processors.",
    epilog="Exit codes: 0 done, 1 the model cannot be deployed or verification failed, 2 usage, "
    "3 a plugin's fault, 70 internal error. NO_COLOR turns colour off.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("compile")(compile_command)
app.command("run")(run_command)
app.command("verify")(verify_command)
app.command("check")(check_command)
app.command("explain")(explain_command)
app.command("fit")(fit_command)
app.command("diff")(diff_command)
app.command("report")(report_command)
app.command("quantize")(quantize_command)
app.command("targets")(targets_command)
app.command("plugins")(plugins_command)
app.command("doctor")(doctor_command)
app.command("new-target")(new_target_command)
app.command("test-target")(test_target_command)


def _show_version(value: bool) -> None:
    if value:
        from match_core import __version__

        typer.echo(f"match {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> int:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return UsageError.exit_code
    return 0


def main() -> NoReturn:
    """Entry point of the installed command."""
    prepare_streams()
    # What a compilation makes it keeps: looking for garbage is a tenth of the time of a large one.
    gc.set_threshold(100_000, 50, 50)
    code = run(sys.argv[1:], interrupts.hold_within_imports())
    interrupts.ignore()
    sys.exit(code)


def run(arguments: Sequence[str], interrupted: Callable[[], bool] = lambda: False) -> int:
    """Run one command line and return its exit code. Nothing but a SystemExit of the interpreter escapes.
    ``interrupted``: whether Ctrl-C came, after which no failure is a fault of anybody's."""
    terminal = Terminal(as_json="--json" in arguments)
    try:
        code = typer.main.get_command(app).main(list(arguments), prog_name="match", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except SystemExit:
        return EXIT_PIPE_CLOSED  # typer leaves so, and only so, where stdout is a pipe without a reader
    except _CommandLineError as error:
        return _told(terminal, _usage(error, arguments), error)
    except Exception as error:
        if interrupted():
            return EXIT_INTERRUPTED
        if isinstance(error, MatchError):
            return _told(terminal, error, error)
        return _told(terminal, _internal(error), error)  # a bug: told as one, with its exit code, not as a traceback
    return code if isinstance(code, int) else 0


def _told(terminal: Terminal, told: MatchError, cause: BaseException) -> int:
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        traceback.print_exception(cause)
    terminal.error(told)
    return told.exit_code


def _usage(error: Exception, arguments: Sequence[str]) -> UsageError:
    verbs = {command.name for command in app.registered_commands}
    command = " ".join(["match", *(argument for argument in arguments[:1] if argument in verbs)])
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return UsageError(
        code="MATCH-U001",
        what="the command line cannot be understood",
        where=command,
        why=message,
        help=(f"see: {command} --help",),
    )


def _internal(error: Exception) -> InternalError:
    text = str(error).strip().split("\n")[0]
    return InternalError(
        code="MATCH-X001",
        what="internal error",
        where="match itself or one of the packages it uses",
        why=f"{type(error).__name__}: {text}" if text else type(error).__name__,
        help=(
            "this is a bug: please report it with the command line and, if you may, the model",
            f"set {TRACEBACK_VARIABLE}=1 to see where it happened",
        ),
    )


if __name__ == "__main__":
    main()
