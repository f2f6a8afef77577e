"""What docs/contract.md promises: the contract is as recorded, and packages of another number get the quoted line."""

from __future__ import annotations

import copy
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from contract_types import ContractType, Member
from hook_pages import Hook, contract_types, hooks
from match_core import CONTRACT_VERSION, hookimpl
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins

from tests.conftest import ROOT
from tests.docs.pages import DOCS, text_of

RECORD = ROOT / "tests" / "docs" / f"contract-{CONTRACT_VERSION}.json"
PAGE = text_of(DOCS / "contract.md")
Contract = dict[str, Any]


def current(all_hooks: tuple[Hook, ...], types: tuple[ContractType, ...]) -> Contract:
    """Hooks with arguments and answer, types with members. Of a member: kind, type, whether it must be given."""
    return {
        "hooks": {
            hook.name: {"arguments": hook.arguments, "returns": hook.returns, "first_result": hook.first_result}
            for hook in all_hooks
        },
        "types": {
            f"{kind.module}.{kind.name}": {
                "kind": kind.kind,
                "definition": kind.definition,
                "members": {member.name: _member(member) for member in kind.members},
            }
            for kind in sorted(types, key=lambda kind: (kind.module, kind.name))
        },
    }


def _member(member: Member) -> list[object]:
    return [member.kind, member.type, member.kind == "field" and member.default is None]


def breaks(old: Contract, new: Contract) -> list[str]:
    """Changes that packages notice."""
    found = []
    for name, hook in old["hooks"].items():
        now = new["hooks"].get(name)
        if now is None:
            found.append(f"hook {name} is gone")
            continue
        if list(now["arguments"].items())[: len(hook["arguments"])] != list(hook["arguments"].items()):
            found.append(f"hook {name}: arguments")
        if (now["returns"], now["first_result"]) != (hook["returns"], hook["first_result"]):
            found.append(f"hook {name}: answer")
    for name, kind in old["types"].items():
        now = new["types"].get(name)
        if now is None:
            found.append(f"type {name} is gone")
            continue
        found += [f"{name}: {text}" for text in _type_breaks(kind, now)]
    return found


def _type_breaks(old: Contract, new: Contract) -> list[str]:
    found = [] if old["kind"] == new["kind"] and _widened(old["definition"], new["definition"]) else ["another type"]
    for name, (kind, annotation, needed) in old["members"].items():
        now = new["members"].get(name)
        if now is None:
            found.append(f"{name} is gone")
        elif now[0] != kind or not _widened(annotation, now[1]) or (now[2] and not needed):
            found.append(f"{name} is another")
    added = [name for name in new["members"] if name not in old["members"]]
    # what a package gives must keep being enough, and the core calls the methods of protocols
    found += [f"{name} must be given" for name in added if new["members"][name][2] or new["kind"] == "protocol"]
    return found


def _widened(old: str, new: str) -> bool:
    """Whether a type is the same, or allows more: further values of a Literal, further members of a union."""
    return old == new or set(_alternatives(old)) < set(_alternatives(new))


def _alternatives(annotation: str) -> list[str]:
    whole = re.fullmatch(r"(Literal|Union)\[([^\[\]]*)\]", annotation)
    if whole:
        return [f"{whole[1]}:{part.strip()}" for part in whole[2].split(",")]
    inner = re.fullmatch(r"(.*\W)Union\[([^\[\]]*)\](.*)|Mapping\[(\w+), (.*)\]", annotation)
    if inner and inner[4]:
        return [f"Mapping:{inner[4]}:{part.strip()}" for part in inner[5].split("|")]
    return [part.strip() for part in annotation.split("|")] if "[" not in annotation else [annotation]


def _recorded() -> Contract:
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


def test_the_contract_is_as_recorded(request: pytest.FixtureRequest) -> None:
    """What packages notice needs a new number; all else must be recorded (``--update-golden``), to be kept from now."""
    now = json.loads(json.dumps(current(hooks(), contract_types())))
    if RECORD.exists():
        assert breaks(_recorded(), now) == [], "packages would notice: this needs a new CONTRACT_VERSION"
    if request.config.getoption("--update-golden"):
        RECORD.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    assert now == _recorded(), "look, then: pytest --update-golden tests/docs/test_contract.py"


def _hook(contract: Contract) -> Contract:
    return dict(contract["hooks"])["match_cost"]  # type: ignore[no-any-return]


def _unit(contract: Contract) -> Contract:
    return contract["types"]["match_core.contract.hardware.Unit"]["members"]  # type: ignore[no-any-return]


def _model(contract: Contract) -> Contract:
    return contract["types"]["match_core.contract.cost.CostModel"]["members"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "change",
    [
        lambda contract: contract["hooks"].pop("match_schedule"),
        lambda contract: _hook(contract).update(arguments={"unit": "Unit", "soc": "Soc", "pattern": "Pattern"}),
        lambda contract: _hook(contract).update(arguments={"new": "int", **_hook(contract)["arguments"]}),
        lambda contract: _hook(contract).update(returns="CostModel"),
        lambda contract: _hook(contract).update(first_result=False),
        lambda contract: contract["types"].pop("match_core.contract.hardware.Unit"),
        lambda contract: _unit(contract).pop("layout"),
        lambda contract: _unit(contract).update(layout=["field", "Literal['NCHW'] | None", False]),
        lambda contract: _unit(contract).update(memory=["field", "str | None", True]),
        lambda contract: _unit(contract).update(new=["field", "int", True]),
        lambda contract: _model(contract).update({"new()": ["method", "int", False]}),
    ],
)
def test_what_packages_would_notice_is_told(change: Any) -> None:
    contract = copy.deepcopy(_recorded())
    change(contract)
    assert len(breaks(_recorded(), contract)) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda contract: contract["hooks"].update(match_new={"arguments": {}, "returns": "int", "first_result": True}),
        lambda contract: _hook(contract)["arguments"].update(new="int"),
        lambda contract: contract["types"].update(
            {"match_core.new.New": contract["types"]["match_core.contract.forms.Form"]}
        ),
        lambda contract: _unit(contract).update(new=["field", "int", False]),
        lambda contract: contract["types"]["match_core.contract.cost.Bound"].update(
            definition="Literal['exact', 'upper', 'lower', 'fitted', 'new']"
        ),
    ],
)
def test_what_they_do_not_notice_may_change(change: Any) -> None:
    contract = copy.deepcopy(_recorded())
    change(contract)
    assert contract != _recorded()
    assert breaks(_recorded(), contract) == []


class Package:
    """A package of one hook, which takes fewer arguments than the hook has, and knows one of a later core."""

    def __init__(self, contract: int) -> None:
        self.match_contract = contract
        self.asked: list[str] = []

    @hookimpl
    def match_transforms(self) -> tuple[()]:
        """Nothing to add."""
        self.asked.append("match_transforms")
        return ()

    @hookimpl(optionalhook=True)
    def match_of_a_later_core(self, new: object) -> None:
        """Not known here."""


def _plugins(contract: int) -> tuple[Plugins, Package]:
    package = Package(contract)
    found = Found("old", "match-old", "0.3", lambda: package)
    return Plugins.load((found,), environment={"MATCH_ALLOW_PLUGINS": "match-old,match-core,match-host"}), package


@pytest.mark.parametrize("contract", [0, 2])
def test_the_quoted_refusals_are_the_real_ones(contract: int) -> None:
    plugins, package = _plugins(contract)
    plugins.transforms(plugins.soc("host"))
    (fault,) = plugins.faults
    (shown,) = re.findall(rf"<!-- refusal {contract} -->\n```text\n(.*)\n```", PAGE)
    assert shown == f"warning: {fault}"
    assert (fault.code, package.asked) == ("MATCH-H002", [])


def test_fewer_arguments_and_hooks_of_later_cores_are_accepted() -> None:
    plugins, package = _plugins(CONTRACT_VERSION)
    plugins.transforms(plugins.soc("host"))
    assert (plugins.faults, package.asked) == ((), ["match_transforms"])


def test_the_page_has_the_current_number() -> None:
    assert f"is its version, now {CONTRACT_VERSION}." in " ".join(PAGE.split())
    assert re.findall(r"^match_contract = (\d+)$", PAGE, flags=re.MULTILINE) == [str(CONTRACT_VERSION)]
    assert f"`tests/docs/{RECORD.name}`" in PAGE


def test_packages_state_the_range_that_the_page_tells() -> None:
    (wanted,) = re.findall(r'dependencies = \["(.*)"\]', PAGE)
    projects = [*(ROOT / "plugins").glob("*/pyproject.toml"), *(DOCS / "examples").glob("*/pyproject.toml")]
    assert projects
    for project in projects:
        (stated,) = re.findall(r'"(match-core>=[^"\[]*)"', project.read_text(encoding="utf-8"))
        assert stated == wanted, project


def test_the_record_is_the_packages_view() -> None:
    """A specification that a test makes up is seen as the real ones are."""
    kind = ContractType("m", "T", "class", "", (Member("a", "field", "int", None, ""),), "", ())
    made = SimpleNamespace(name="match_x", arguments={"a": "int"}, returns="T", first_result=True)
    contract = current((made,), (kind,))  # type: ignore[arg-type]
    assert contract["types"]["m.T"]["members"] == {"a": ["field", "int", True]}
    assert breaks(contract, {"hooks": {}, "types": {}}) == ["hook match_x is gone", "type m.T is gone"]
