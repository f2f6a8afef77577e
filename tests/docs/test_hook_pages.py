"""A page for every hook, with what its specification and its signature say; its example works in a package."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import typing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from contract_types import ContractType
from hook_pages import SECTIONS, TYPES_PAGE, Hook, contract_types, hook_pages, hooks, implementers
from match_core import CONTRACT_VERSION, hookimpl, hookspec
from match_core.contract.commands import Command
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.front_end import FrontEnd
from match_core.contract.mapping import Assignment, Mapping, MappingRequest, SolverStatus
from match_core.contract.model import Model
from match_core.contract.planning import Needs, Plan, PlanRequest
from match_core.contract.program import Program
from match_core.contract.runner import Runner
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_core.plugin.registry import HOOKS, SPECS
from match_core.schedule.cache import ScheduleCache
from match_core.schedule.candidates import Scheduler
from match_report.npz import write_arrays
from match_verify.verify import VerifyRequest, verify_model
from onnx import helper

from tests.conftest import ROOT
from tests.docs.pages import text_of

EVERY_HOOK = pytest.mark.parametrize("hook", hooks(), ids=lambda hook: str(hook.name))
EVERY_TYPE = pytest.mark.parametrize("kind", contract_types(), ids=lambda kind: str(kind.name))
PAGES = hook_pages()
SPEC_OF: dict[str, Callable[..., object]] = {
    name: getattr(s, name) for s in SPECS for name in HOOKS if hasattr(s, name)
}


def pages_without(names: tuple[str, ...]) -> list[str]:
    """What of a list of hooks has no page, or is not in the navigation."""
    navigation = text_of(ROOT / "mkdocs.yml")
    return [name for name in names if f"hooks/{name}.md" not in PAGES or f"- hooks/{name}.md\n" not in navigation]


def _section(hook: Hook, title: str) -> str:
    parts = re.split(r"^## (.+)$", PAGES[f"hooks/{hook.name}.md"], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title].strip()


def test_every_hook_has_a_page() -> None:
    assert tuple(hook.name for hook in hooks()) == HOOKS
    assert pages_without(HOOKS) == []
    assert pages_without((*HOOKS, "match_made_up")) == ["match_made_up"]
    assert f"- {TYPES_PAGE}\n" in text_of(ROOT / "mkdocs.yml")


@EVERY_HOOK
def test_the_page_has_every_section_in_order(hook: Hook) -> None:
    headings = re.findall(r"^## (.+)$", PAGES[f"hooks/{hook.name}.md"], flags=re.MULTILINE)
    assert tuple(headings) == (*SECTIONS, "Example", "Who implements it")
    assert all(len(_section(hook, heading)) > 4 for heading in headings)


@EVERY_HOOK
def test_the_page_has_the_signature(hook: Hook) -> None:
    """As the function has it, with the names and types of all arguments."""
    function = SPEC_OF[hook.name]
    signature = f"{hook.name}{inspect.signature(function)}".replace("'", "")
    assert f"\n```python\n{signature}\n```\n" in PAGES[f"hooks/{hook.name}.md"]
    rows = re.findall(r"^\| `(\w+)` \| \[?`(.+?)`.* \| (.+) \|$", _section(hook, "Arguments"), flags=re.MULTILINE)
    assert [(name, kind) for name, kind, _ in rows] == list(hook.arguments.items())
    assert all(text for *_, text in rows)
    assert re.match(rf"\[?`{re.escape(hook.returns)}`", _section(hook, "Returns"))


@EVERY_HOOK
def test_the_page_says_whose_answer_is_taken(hook: Hook) -> None:
    words = (
        "One answer is taken"
        if SPEC_OF[hook.name].match_spec["firstresult"]
        else "The answers of all packages are taken"
    )
    assert words in PAGES[f"hooks/{hook.name}.md"]


@EVERY_HOOK
def test_types_of_the_signature_have_a_section(hook: Hook) -> None:
    links = re.findall(r"\(types\.md#(\w+)\)", PAGES[f"hooks/{hook.name}.md"])
    anchors = {kind.name.lower() for kind in contract_types()}
    assert links and set(links) <= anchors
    named = set(re.findall(r"[A-Z]\w+", f"{hook.returns} {' '.join(hook.arguments.values())}")) - {"None", "Sequence"}
    assert {name.lower() for name in named} == set(links)


@EVERY_TYPE
def test_documented_types_are_the_classes(kind: ContractType) -> None:
    """Fields in their order, with the default where there is one, and a text."""
    real = getattr(importlib.import_module(kind.module), kind.name)
    assert kind.text, f"{kind.module}.{kind.name} has no docstring or #: comment"
    if dataclasses.is_dataclass(real):
        documented = [(member.name, member.default is not None) for member in kind.members if member.kind == "field"]
        missing = (dataclasses.MISSING, dataclasses.MISSING)
        assert documented == [
            (field.name, (field.default, field.default_factory) != missing) for field in dataclasses.fields(real)
        ]
    for member in kind.members:
        assert member.kind in ("field", "value") or member.text, f"{kind.name}.{member.name} has no docstring"
        assert member.kind == "field" or hasattr(real, member.name.partition("(")[0])
    rest = PAGES[TYPES_PAGE].split(f"\n## {kind.name}\n")[1].split("\n## ")[0]
    where = re.findall(r"^`from (\S+) import (\w+)`$", rest, flags=re.MULTILINE)
    assert [getattr(importlib.import_module(module), name) for module, name in where] == [real]


def test_implementers_are_those_that_are_installed(plugins: Plugins) -> None:
    for hook in HOOKS:
        listed = {words.split("`")[1] for words in implementers().get(hook, ()) if "documentation" not in words}
        assert listed == {row.distribution for row in plugins.plugins() if hook in row.hooks}, hook


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda text: text.replace("Nobody answers:", "Nobody:"), "nothing under ['Nobody answers']"),
        (lambda text: text.replace("a: the", "b: the"), "explains ['b'], the arguments are ['a']"),
        (lambda text: text.split("Example::")[0], "the summary or the example"),
    ],
)
def test_a_specification_that_lacks_something_makes_no_page(edit: Callable[[str], str], told: str) -> None:
    @hookspec
    def match_made_up(a: int) -> int:
        """Do something.

        Called: now.

        Arguments:
            a: the number.

        Returns: a number.

        Several answers: one.

        Nobody answers: nothing.

        May be changed: nothing.

        Example::

            pass
        """

    module = ModuleType("made_up")
    module.match_made_up = match_made_up  # type: ignore[attr-defined]
    (hook,) = hooks((module,))
    assert hook.signature == "match_made_up(a: int) -> int"
    match_made_up.__doc__ = edit(match_made_up.__doc__ or "")
    with pytest.raises(ValueError, match=re.escape(told)):
        hooks((module,))


# The examples, as one package
# ------------------------------------------------------------------------------------------------


def _names(hook: Hook, module: ModuleType) -> dict[str, Any]:
    """What a specification imports for its types."""
    tree = ast.parse(inspect.getsource(module))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    return {
        alias.name: getattr(importlib.import_module(str(node.module)), alias.name)
        for node in imports
        for alias in node.names
    }


@EVERY_HOOK
def test_the_example_has_the_signature_of_its_hook(hook: Hook) -> None:
    """The same arguments of the same types; the answer may be one of those that the hook allows."""
    names = {**_names(hook, importlib.import_module(hook.module)), "hookimpl": hookimpl}
    exec(compile(f"from __future__ import annotations\n{hook.example}", hook.name, "exec"), names)
    example = typing.get_type_hints(names[hook.name], names)
    wanted = typing.get_type_hints(SPEC_OF[hook.name], names)
    assert list(example.items())[:-1] == list(wanted.items())[:-1]
    assert set(_answers(example["return"])) <= set(_answers(wanted["return"]))
    assert hasattr(names[hook.name], "match_impl"), "not marked with @hookimpl"


def _answers(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if type(None) in typing.get_args(hint) else (hint,)


@pytest.fixture
def example_package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the examples of all hooks, for a unit ``mynpu`` that does what the example target's unit does."""
    monkeypatch.syspath_prepend(str(ROOT / "core" / "tests" / "plugin" / "example_target" / "src"))
    hardware, relu = importlib.import_module("match_example.hardware"), importlib.import_module("match_example.relu")
    from match_core.contract.passes import Pass, Phase
    from match_schedule.engine import schedule

    module = ModuleType("examples")
    names: dict[str, Any] = vars(module)
    for hook in hooks():
        names.update(_names(hook, importlib.import_module(hook.module)))
    names.update(
        hookimpl=hookimpl,
        match_contract=CONTRACT_VERSION,
        MYNPU=replace(hardware.RELU_UNIT, name="mynpu"),
        MYCHIP=replace(hardware.EXAMPLE, name="mychip", units=("host", "mynpu")),
        SPLIT_WIDE_CONV=Pass("split_wide_conv", Phase.TARGET, lambda model, context: model, "changes nothing"),
        PATTERNS=(relu.RELU,),
        MyCost=lambda soc, pattern: relu.ReluCost(hardware.START_CYCLES[soc.preset]),
        fixed_tiles=lambda request: replace(schedule(request), engine="mynpu"),
        MYNPU_API=relu.unit_api("awake"),
        FrontEnd=FrontEnd,
        my_convert=lambda content, source: onnx.ModelProto.FromString(content[4:]),
        greedy=_greedy,
        in_order=lambda request: Plan(request.mapping, _program(request)),
        Fit=Fit,
        in_halves=lambda model: model,
        Runner=Runner,
        run_on_simulator=lambda request: None,
        Command=Command,
        hello_command=lambda: 0,
    )
    for hook in hooks():
        exec(compile(f"from __future__ import annotations\n{hook.example}", hook.name, "exec"), names)
    return module


def _greedy(request: MappingRequest) -> Mapping:
    """The cheapest candidate for the only node."""
    cheapest = min(request.offered, key=lambda offer: offer.schedule.cost.total_cycles)
    cycles = cheapest.schedule.cost.total_cycles
    status = SolverStatus("greedy", "heuristic", cycles, 0)
    return Mapping((cheapest,), status, request.refused, request.objective)


def _program(request: PlanRequest) -> Program:
    soc = request.scheduling.soc
    return Program(soc, (), (), (), SolverStatus("in order", "heuristic", 0, 0), 0)


def _plan_request(plugins: Plugins) -> PlanRequest:
    """For a mapping of nothing: the example does not say how a program is planned."""
    soc = plugins.soc("mychip")
    graph = gs.Graph(nodes=[], inputs=[], outputs=[])
    assignment = SimpleNamespace(candidate=SimpleNamespace(unit="mynpu", units=("mynpu",)))
    mapping = Mapping((cast("Assignment", assignment),), SolverStatus("none", "heuristic", 0, 0))
    scheduler = Scheduler(soc, plugins.units_of(soc), "latency", plugins, ScheduleCache())
    return PlanRequest(Model("empty", graph), mapping, scheduler, lambda _: Needs((), (), {}))


def unanswered(plugins: Plugins, plugin: str, names: tuple[str, ...] = HOOKS) -> list[str]:
    """The hooks to which a plugin gave no answer."""
    answered = {answer.hook for answer in plugins.answers if answer.plugin == plugin}
    return [name for name in names if name not in answered]


def test_every_hook_is_answered_by_its_example(example_package: ModuleType, tmp_path: Path) -> None:
    """A program whose target is made of the examples alone: each hook was asked, its answer accepted and used."""
    plugins = Plugins.load(
        (Found("mynpu", "match-mynpu", "1.0", lambda: example_package),),
        environment={"MATCH_ALLOW_PLUGINS": "match-mynpu,match-core,match-host,match-schedule,match-map"},
    )
    values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 64]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", values[:1], values[1:])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    (tmp_path / "relu.myfm").write_bytes(b"MYFM" + proto.SerializeToString())
    write_arrays(tmp_path / "in.npz", {"x": np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 1, 64)})
    request = VerifyRequest(model=tmp_path / "relu.myfm", target="mychip", inputs=tmp_path / "in.npz", max_loss=20)
    result = verify_model(request, plugins)
    assert result.ok
    assert result.compilation.choice is not None and result.compilation.notes == ("all nodes are exact",)
    assert [node.unit for node in result.run.nodes] == ["mynpu"]
    plan = plugins.plan(_plan_request(plugins), lambda _: "")
    assert plan is not None and plan.program.soc.name == "mychip"
    asked = _plan_request(plugins)
    fit = plugins.fit(FitRequest(asked.model, plugins.soc("mychip"), asked.mapping, lambda *_: 1))
    assert fit is not None and fit.model is asked.model
    assert "mysim" in [runner.name for runner in plugins.runners()]
    assert "hello" in [command.name for command in plugins.commands()]
    assert plugins.faults == ()
    assert unanswered(plugins, "mynpu") == []
    assert unanswered(plugins, "mynpu", (*HOOKS, "match_made_up")) == ["match_made_up"]
