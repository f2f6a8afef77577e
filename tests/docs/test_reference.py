"""What can be looked up is complete: error codes, options, hooks, passes, variables, links, the support page."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from match_core.plugin.facade import Plugins

from tests.conftest import ROOT
from tests.docs.pages import DOCS, anchors, pages, text_of

CODE = re.compile(r"MATCH-[A-Z]\d{3}")
SOURCES = (ROOT / "core" / "src", *sorted((ROOT / "plugins").glob("*/src")))


def _source_text() -> Iterator[tuple[Path, str]]:
    for folder in SOURCES:
        for path in sorted(folder.rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")


def test_every_error_code_has_a_section_and_every_section_a_code() -> None:
    used = {code for _, text in _source_text() for code in CODE.findall(text)}
    sections = re.findall(r"^## (MATCH-[A-Z]\d{3})$", text_of(DOCS / "errors.md"), flags=re.MULTILINE)
    assert len(sections) == len(set(sections))
    assert set(sections) == used


def test_every_section_on_an_error_says_what_and_what_helps() -> None:
    parts = re.split(r"^## (MATCH-[A-Z]\d{3})$", text_of(DOCS / "errors.md"), flags=re.MULTILINE)[1:]
    for code, body in zip(parts[::2], parts[1::2], strict=True):
        assert "**What.** " in body and "**Help.** " in body, code


def test_error_codes_mentioned_anywhere_exist() -> None:
    known = set(CODE.findall(text_of(DOCS / "errors.md")))
    for page in pages():
        assert set(CODE.findall(text_of(page))) <= known, page


def _root() -> object:
    from match_core.cli.main import application

    return typer.main.get_command(application())


def _verbs() -> dict[str, object]:
    return dict(_root().commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", sorted(_verbs()))
def test_every_option_of_the_verb_is_documented(verb: str) -> None:
    text = text_of(DOCS / "cli.md")
    section = text.split(f"\n## match {verb}\n")[1].split("\n## ")[0]
    usage = section.split("\n\n")[0]
    for parameter in _verbs()[verb].params:  # type: ignore[attr-defined]
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("-"):
                assert f"`{option}" in text or f"`{option} " in text or f" {option} " in text, option
        if parameter.opts[0].startswith("-") and parameter.name != "help":
            assert max(parameter.opts, key=len) in usage, f"{parameter.opts} in the usage of {verb}"


def test_every_option_in_the_page_exists() -> None:
    known = {option for verb in _verbs().values() for p in verb.params for option in (*p.opts, *p.secondary_opts)}  # type: ignore[attr-defined]
    known |= {"--help", *(option for p in _root().params for option in p.opts)}  # type: ignore[attr-defined]
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text_of(DOCS / "cli.md"))) <= known


def test_every_environment_variable_is_documented() -> None:
    used = {name for _, text in _source_text() for name in re.findall(r"[\"'](MATCH_[A-Z_]+)[\"']", text)}
    documented = set(re.findall(r"\| `(MATCH_[A-Z_]+)`", text_of(DOCS / "cli.md")))
    assert documented == used


def test_every_hook_is_documented_with_its_signature() -> None:
    from match_core.plugin.registry import HOOKS, SPECS

    text = text_of(DOCS / "plugins.md")
    assert re.findall(r"^### (match_\w+)$", text, flags=re.MULTILINE) == list(HOOKS)
    for spec in SPECS:
        for name in HOOKS:
            if hasattr(spec, name):
                signature = f"{name}{inspect.signature(getattr(spec, name), eval_str=False)}".replace("'", "")
                assert f"`{signature}`" in text


def test_the_contract_version_is_current() -> None:
    from match_core import CONTRACT_VERSION

    assert f"The contract version is {CONTRACT_VERSION} " in text_of(DOCS / "plugins.md")
    assert f"contract version {CONTRACT_VERSION}." in text_of(DOCS / "architecture.md")


def test_every_pass_is_documented(plugins: Plugins, request: pytest.FixtureRequest) -> None:
    """The table of passes is current; ``--update-golden`` rewrites it."""
    from match_core.passes.order import order_passes

    passes = order_passes(plugins.transforms(plugins.soc("gap9")))
    lines = ["| pass | phase | what it does |", "|---|---|---|"]
    lines += [f"| `{item.name}` | {item.phase.name.lower()} | {_cell(item.description)} |" for item in passes]
    wanted = "\n".join(lines)
    page = DOCS / "architecture.md"
    before, rest = text_of(page).split("<!-- passes -->\n")
    shown, after = rest.split("\n\n", 1)
    if request.config.getoption("--update-golden"):
        page.write_text(f"{before}<!-- passes -->\n{wanted}\n\n{after}", encoding="utf-8")
        return
    assert shown == wanted


def test_the_optional_passes_are_named(plugins: Plugins) -> None:
    from tests.all_passes import core_passes, target_passes

    optional = sorted(item.name for item in core_passes(plugins.soc("gap9")) if item.optional)
    shown = text_of(DOCS / "cli.md").split("<!-- optional passes -->")[1].split("<!-- end -->")[0]
    assert shown == ", ".join(f"`{name}`" for name in optional)
    for target in ("ita", "diana"):
        optional = sorted(item.name for item in target_passes(plugins, target) if item.optional)
        shown = text_of(DOCS / "cli.md").split(f"<!-- optional passes {target} -->")[1].split("<!-- end -->")[0]
        assert shown == ", ".join(f"`{name}`" for name in optional)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def test_every_operator_of_ours_is_documented() -> None:
    from match_core.ir.functions import function_protos

    text = text_of(DOCS / "architecture.md")
    for proto in function_protos():
        assert re.search(rf"`(\w+\.\w+::)?{proto.name}`", text), proto.name


def test_the_support_page_is_current() -> None:
    command = [sys.executable, str(DOCS / "make_support.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), target
