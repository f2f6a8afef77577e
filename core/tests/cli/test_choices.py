"""Every choice that a verb offers reaches the library: the request that it makes is looked at, nothing is compiled."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from match_core.cli.main import run
from match_core.contract.errors import UsageError
from match_core.deploy.compile_options import CompileOptions
from match_report.advice.commands import command_of

#: Where each verb hands its request over.
LIBRARY = {
    "compile": "match_core.pipeline.build_program",
    "verify": "match_verify.verify.verify_model",
    "check": "match_report.advice.check.check_model",
    "explain": "match_report.advice.explain.explain_node",
    "fit": "match_report.advice.fit.Fitting",
    "quantize": "match_quant.quantize.quantize_model",
}
#: What a verb needs besides.
NEEDED = {
    "compile": ["model.onnx", "-o", "out"],
    "verify": ["model.onnx"],
    "check": ["model.onnx"],
    "explain": ["model.onnx", "node"],
    "fit": ["model.onnx", "--budget", "ram=1M"],
    "quantize": ["model.onnx", "--data", "x.npz", "-o", "small.onnx"],
}
Choice = tuple[list[str], str, object]

#: Arguments, the field of the request, and what it must hold.
SHARED: tuple[Choice, ...] = (
    (["--target", "host"], "target", "host"),
    (["-t", "host"], "target", "host"),
    (["--only-unit", "npu", "--only-unit", "dsp"], "only_units", ("npu", "dsp")),
    (["--without-unit", "npu"], "without_units", ("npu",)),
    (["--without-pass", "fuse"], "without_passes", ("fuse",)),
    (["--quantized-io"], "quantized_io", True),
    (["--precision", "fast"], "precision", "fast"),
    (["--preset", "generic"], "preset", "generic"),
    (["--regions", "largest"], "regions", "largest"),
    (["--region-min", "nodes=4", "--region-min", "macs=9"], "region_min", (("macs", 9), ("nodes", 4))),
)
MEMORY: tuple[Choice, ...] = ((["--memory", "ram=8kB"], "memory", (("ram", 8000),)),)
PROGRAM: tuple[Choice, ...] = (
    (["--objective", "edp"], "objective", "edp"),
    (["--name", "net"], "name", "net"),
    (["--no-cache"], "cache", False),
    (["--jobs", "3"], "jobs", 3),
    (["-j", "2"], "jobs", 2),
    (["--sequential"], "execution", "sequential"),
    (["--parallel", "views"], "parallel", "views"),
    (["--parallel", "joint"], "parallel", "joint"),
    (["--parallel", "long"], "parallel", "long"),
    (["--state", "a=b", "--state", "c="], "states", (("a", "b"), ("c", ""))),
)
CHOICES: dict[str, tuple[Choice, ...]] = {
    "compile": (*SHARED, *MEMORY, *PROGRAM),
    "verify": (*SHARED, *MEMORY, *PROGRAM, (["--sanitize"], "sanitize", True), (["--mode", "lazy"], "mode", "lazy")),
    "check": (*SHARED, *MEMORY),
    "explain": (*SHARED, *MEMORY),
    "fit": (*SHARED, (["--sequential"], "execution", "sequential")),
    "quantize": (
        (["--output", "other.onnx"], "output", Path("other.onnx")),
        (["--activations", "uint8"], "activations", "uint8"),
        (["--per-tensor"], "per_channel", False),
        (["--method", "entropy"], "method", "entropy"),
    ),
}


class Library:
    """Stands for the library: keeps the first argument of the call and ends the command."""

    def __init__(self) -> None:
        self.arguments: tuple[Any, ...] = ()
        self.named: dict[str, Any] = {}

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self.arguments, self.named = arguments, named
        raise UsageError(code="MATCH-U001", what="seen", where="here", why="the test has seen it", help=())


@pytest.fixture
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Library:
    seen = Library()
    monkeypatch.setattr(LIBRARY[request.node.callspec.params["verb"]], seen)
    return seen


def _cases() -> Iterator[tuple[str, Choice]]:
    for verb, choices in CHOICES.items():
        yield from ((verb, choice) for choice in choices)


@pytest.mark.parametrize(
    ("verb", "choice"), list(_cases()), ids=lambda value: value if isinstance(value, str) else value[0]
)
def test_it_is_in_the_request(verb: str, choice: Choice, library: Library) -> None:
    arguments, name, value = choice
    target = ["-t", "host"] if verb != "quantize" and not {"-t", "--target"} & set(arguments) else []
    assert run([verb, *NEEDED[verb], *target, *arguments]) == UsageError.exit_code
    request = library.arguments[0]
    assert getattr(request, name) == value


@pytest.mark.parametrize("verb", CHOICES)
def test_what_is_not_chosen_is_the_default(verb: str, library: Library) -> None:
    """So that an option cannot pass the test above because its value is always there."""
    run([verb, *NEEDED[verb], *([] if verb == "quantize" else ["-t", "host"])])
    for arguments, name, value in CHOICES[verb]:
        assert arguments[0] in ("-t", "--target") or getattr(library.arguments[0], name) != value


@pytest.mark.parametrize("verb", ["check", "explain", "fit"])
def test_what_a_verb_does_not_offer_keeps_its_default(verb: str, library: Library) -> None:
    run([verb, *NEEDED[verb], "-t", "host"])
    assert library.arguments[0].choices() == CompileOptions().choices()


#: Options that the lists above leave to their own tests.
OTHERS = (["--dim", "batch=1", "--dim", "x y:2=3"], ["--exact", "/a/Conv"], ["--max-loss", "20"])


@pytest.mark.parametrize("verb", ["compile"])
@pytest.mark.parametrize("arguments", [*(choice[0] for choice in CHOICES["compile"]), *OTHERS], ids=" ".join)
def test_a_command_in_advice_repeats_the_request(verb: str, arguments: list[str], library: Library) -> None:
    """Parsed again, the command that ``command_of`` writes asks for the same."""
    target = [] if {"-t", "--target"} & set(arguments) else ["-t", "host"]
    run([verb, *NEEDED[verb], *target, *arguments])
    asked = library.arguments[0]
    run(shlex.split(command_of(verb, asked, "-o", asked.output))[1:])
    again = library.arguments[0]
    assert again is not asked
    jobs = {"jobs": asked.jobs}  # how fast a program is found is not part of advice
    assert {**again.choices(), **jobs} == asked.choices()
    assert (again.model, again.target) == (asked.model, asked.target)
