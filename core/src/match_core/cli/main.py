"""The command ``match``: verbs, and the one place where errors become text and exit codes.

Exit codes: 0 done; 1 the model cannot be deployed or verification failed; 2 usage; 3 a plugin's fault;
70 internal error; 130 interrupted; 141 the process that read the output has ended.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from match_core.cli import interrupts
from match_core.cli.headline import command_line
from match_core.cli.listed import listed_commands
from match_core.cli.terminal import Terminal, prepare_streams
from match_core.cli.verbs import core_verbs, verb_of
from match_core.contract.errors import MatchError, UsageError, no_room

if TYPE_CHECKING:
    from match_core.contract.commands import Command
    from match_core.plugin.facade import Plugins

#: Failures of the machine, wherever they happen.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141
TRACEBACK_VARIABLE = "MATCH_TRACEBACK"
_COMPLETION_VARIABLE = "_MATCH_COMPLETE"

#: What typer raises if it cannot parse a command line. The class moved between versions (click, then a copy in
#: typer), so it is reached through its public subclass.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[1]


class InternalError(MatchError):
    """An exception that is not meant for the user, reported in the same form."""

    exit_code = EXIT_INTERNAL


def application(arguments: Sequence[str] | None = None) -> typer.Typer:
    """The command with its verbs. Only the verb that ``arguments`` name is imported; all verbs if it is None or if a
    shell requests completions."""
    app = typer.Typer(
        name="match",
        help="Compile neural networks to C for heterogeneous chips.",
        epilog="Exit codes: 0 success, 1 the model cannot be deployed or verification failed, 2 usage error, "
        "3 a plugin's fault, 70 internal error. Set NO_COLOR to disable colours.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    every = arguments is None or _COMPLETION_VARIABLE in os.environ
    named = "" if arguments is None else verb_of(arguments)
    for command in _commands(named, every=every):
        if every or command.name == named:
            app.command(command.name)(command.load())
        else:
            app.command(command.name, help=command.help)(_not_called)
    return app


def _commands(named: str, *, every: bool = False) -> tuple[Command, ...]:
    """The core's verbs and, unless one of them is named, those of packages; ``every``: all of them can be called."""
    own = core_verbs()
    names = [command.name for command in own]
    if named in names:
        return own
    others = _load().commands() if named or every else listed_commands(_load)
    return (*own, *(command for command in others if command.name not in names))


def _load() -> Plugins:
    from match_core.plugin.facade import Plugins

    return Plugins.load()


def _not_called() -> int:
    """Placeholder for a verb that the command line does not name."""
    return 0


def _show_version(value: bool) -> None:
    if value:
        from match_core.version import __version__

        typer.echo(f"match {__version__}")
        raise typer.Exit


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
    # A compilation keeps nearly all objects that it creates; collecting garbage would take a tenth of its time.
    gc.set_threshold(1_000_000, 5, 5)
    code = run(sys.argv[1:], interrupts.hold_interrupts())
    gc.freeze()  # the interpreter would search all of them once more when it ends
    interrupts.ignore()
    sys.exit(_flushed(code))


def run(arguments: Sequence[str], interrupted: Callable[[], bool] = lambda: False) -> int:
    """Run one command line and return its exit code. No exception escapes except the interpreter's SystemExit.
    ``interrupted``: whether Ctrl-C arrived; every failure after that counts as the interrupt."""
    report = partial(_report, arguments)
    try:
        command = typer.main.get_command(application(arguments))
        code = command.main(list(arguments), prog_name="match", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except SystemExit as ended:  # typer: 1 if stdout is a pipe whose reader has ended, 0 after a completion
        return EXIT_PIPE_CLOSED if ended.code else 0
    except _CommandLineError as error:
        return report(_usage(error, arguments), error)
    except Exception as error:
        if interrupted():
            return EXIT_INTERRUPTED
        if isinstance(error, MatchError):
            return report(replace(error, help=_runnable(error.help, arguments)), error)
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return report(_no_room(error), error)
        return report(_internal(error), error)  # a bug: an error with its exit code, not a traceback
    return code if isinstance(code, int) else 0


def _flushed(code: int) -> int:
    """``code``, or that of a reader who went away before the last of the output was written, or of a full disk."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        return EXIT_PIPE_CLOSED if error.errno == errno.EPIPE else _report((), _no_room(error), error)
    return code


def _report(arguments: Sequence[str], error: MatchError, cause: BaseException) -> int:
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        traceback.print_exception(cause)
    try:
        Terminal(as_json="--json" in arguments).error(error, verb_of(arguments))
    except OSError:  # the document cannot be written
        Terminal().error(error)
    return error.exit_code


def _no_room(error: OSError) -> MatchError:
    return no_room(str(error.filename or "temporary files, or the output"), error.strerror or str(error))


def _runnable(help_: Sequence[str], arguments: Sequence[str]) -> tuple[str, ...]:
    """Advice to add options becomes the user's command line with them."""
    return tuple(
        command_line(*arguments, *shlex.split(text[4:])) if text.startswith("add -") else text for text in help_
    )


def _usage(error: Exception, arguments: Sequence[str]) -> UsageError:
    named = verb_of(arguments)
    command = f"match {named}" if any(each.name == named for each in _commands(named)) else "match"
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    wrong, close = getattr(error, "option_name", ""), getattr(error, "possibilities", None)
    if not close:
        wrong, close = named, re.findall(r"Did you mean '([a-z-]+)'", message)
    meant = [close[0] + word[len(wrong) :] if word.split("=")[0] == wrong else word for word in arguments if close]
    examples = re.findall(r"Example: (match .*)", getattr(getattr(context, "command", None), "help", None) or "")
    corrected = (command_line(*meant),) if close else tuple(f"for example: {example}" for example in examples)
    why, help_ = message.replace("Value error, ", ""), (*corrected, f"see: {command} --help")
    return UsageError("MATCH-U001", "the command line is not valid", command, why, help_)


def _internal(error: Exception) -> InternalError:
    text = str(error).strip().split("\n")[0]
    return InternalError(
        code="MATCH-X001",
        what="internal error",
        where="match itself or one of the packages it uses",
        why=f"{type(error).__name__}: {text}" if text else type(error).__name__,
        help=(
            "this is a bug: please report it with the command line and, if possible, the model",
            f"set {TRACEBACK_VARIABLE}=1 to print the traceback",
        ),
    )


if __name__ == "__main__":
    main()
