"""A broken plugin is recorded once, the others go on, and it becomes an error only where it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from match_core.contract.errors import PluginError
from match_core.plugin.badge import shipped_badge
from match_core.plugin.records import PluginFault, by_package

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

GOOD = """
    @hookimpl
    def match_hardware():
        return Hardware(units=(unit("good_unit"),), socs=(chip("good", "good_unit"),))

    @hookimpl
    def match_patterns(unit):
        return (pattern("p"),) if unit.name == "good_unit" else ()
"""


def _with_good(site: Site, name: str, text: str) -> tuple[Plugins, PluginFault]:
    """Load the good plugin and a broken one; the good one must be unharmed and the fault told once."""
    site.plugin("good", GOOD)
    site.plugin(name, text, version="2.7")
    plugins = site.load()
    for _ in range(2):
        soc = plugins.soc("good")
        assert [unit.name for unit in plugins.units_of(soc)] == ["host", "good_unit"]
        assert [p.name for p in plugins.patterns(soc, plugins.units_of(soc)[1])] == ["p"]
    assert len(plugins.faults) == 1
    fault = plugins.faults[0]
    assert (fault.distribution, fault.version, fault.entry_point) == (f"pkg-{name}", "2.7", name)
    assert f"MATCH_DISABLE_PLUGINS=pkg-{name}" in fault.how_to_disable
    assert fault.code in str(fault)
    return plugins, fault


def _status(plugins: Plugins, name: str) -> str:
    return next(row.status for row in plugins.plugins() if row.name == name)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("raise ValueError('first line\\nsecond \\x1b[31mline')", "ValueError: first line second [31mline"),
        ("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("import sys; sys.exit(5)", "SystemExit: 5"),
        ("def broken(:", "SyntaxError: "),
        ("class Mute(Exception):\n    __str__ = lambda self: 1 // 0\nraise Mute()", "Mute: no reason given"),
    ],
)
def test_import_that_fails(site: Site, text: str, cause: str) -> None:
    plugins, fault = _with_good(site, "bad", text)
    assert (fault.stage, fault.code) == ("import", "MATCH-H001")
    assert fault.cause.startswith(cause)
    assert "\n" not in fault.cause
    assert "\x1b" not in fault.cause
    assert _status(plugins, "bad") == "refused"


def test_ctrl_c_during_an_import_is_not_contained(site: Site) -> None:
    site.plugin("bad", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        site.load()


GARBLED = {
    "no equals sign": (b"[match.plugins]\ngarbled\n", "its entry_points.txt cannot be read: "),
    "no text": (b"[match.plugins\nx = \xff\xfe\n", "its entry_points.txt cannot be read: "),
    "no module": (b"[match.plugins]\npkg-garbled = not a module:::\n", "'not a module:::' is not a module"),
}


@pytest.mark.parametrize("what", GARBLED)
def test_an_entry_point_that_cannot_be_read(site: Site, what: str) -> None:
    """importlib.metadata would end the search for all packages."""
    content, words = GARBLED[what]
    site.plugin("good", GOOD)
    site.describe("pkg-garbled", {}, "2.7")
    (site.path / "pkg_garbled-2.7.dist-info" / "entry_points.txt").write_bytes(content)
    plugins = site.load()
    (fault,) = plugins.faults
    assert (fault.distribution, fault.version, fault.stage, fault.code) == (
        "pkg-garbled",
        "2.7",
        "import",
        "MATCH-H001",
    )
    assert words in fault.cause
    assert site.installed(plugins) == ["good"]
    assert _status(plugins, "pkg-garbled") == "refused"
    assert shipped_badge("pkg-garbled", "pkg-garbled") is None
    assert site.load(MATCH_DISABLE_PLUGINS="pkg-garbled").faults == ()


def test_unreadable_entry_points_of_other_software_are_left_alone(site: Site) -> None:
    site.plugin("good", GOOD)
    site.describe("pkg-other", {}, "2.7")
    (site.path / "pkg_other-2.7.dist-info" / "entry_points.txt").write_text("[console_scripts]\ngarbled\n", "utf-8")
    plugins = site.load()
    assert (plugins.faults, site.installed(plugins)) == ((), ["good"])


def test_a_package_without_a_name_is_told(site: Site) -> None:
    site.plugin("good", GOOD)
    site.describe("pkg-nameless", {"nameless": "no_such_module_anywhere"}, "2.7")
    (site.path / "pkg_nameless-2.7.dist-info" / "METADATA").unlink()
    site.distributions.append("unknown")
    (fault,) = site.load().faults
    assert (fault.distribution, fault.entry_point) == ("unknown", "nameless")
    assert site.load(MATCH_DISABLE_PLUGINS="nameless").faults == ()


def test_a_missing_attribute_and_none(site: Site) -> None:
    site.install("pkg-none", {"fake_none": "target = None"}, {"gone": "fake_none:nothing", "none": "fake_none:target"})
    faults = {fault.entry_point: fault for fault in site.load().faults}
    assert faults["gone"].cause.startswith("AttributeError")
    assert faults["none"].cause == "the entry point resolves to None"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("del match_contract", ("states no contract version", "match_contract = 1")),
        ("match_contract = 2", ("written for contract 2", "contract 1")),
        ("match_contract = 0", ("written for contract 0", "contract 1")),
        ("match_contract = '1'", ("match_contract is '1'", "has contract 1")),
        ("match_contract = True", ("match_contract is True", "has contract 1")),
    ],
)
def test_contract_version(site: Site, text: str, words: tuple[str, ...]) -> None:
    plugins, fault = _with_good(site, "old", f"\n    {text}\n" + GOOD.replace("good", "old"))
    assert (fault.stage, fault.code) == ("contract", "MATCH-H002")
    assert all(word in fault.cause for word in words)
    assert site.installed(plugins) == ["good"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@hookimpl\n    def match_hardwear(): ...", "no hook match_hardwear; did you mean match_hardware?"),
        ("@hookimpl\n    def unrelated(): ...", "no hook unrelated; the hooks are match_hardware, "),
        ("@hookimpl(specname='match_costs')\n    def cost(): ...", "no hook match_costs; did you mean match_cost?"),
        ("def match_hardware(): ...", "match_hardware is not marked with @hookimpl"),
        ("@hookimpl(wrapper=True)\n    def match_hardware(): yield", "cannot be wrapped"),
    ],
)
def test_hooks_that_pluggy_would_take_or_ignore(site: Site, text: str, words: str) -> None:
    plugins, fault = _with_good(site, "odd", "\n    " + text + "\n")
    assert (fault.stage, fault.code) == ("hooks", "MATCH-H003")
    assert words in fault.cause
    assert _status(plugins, "odd") == "refused"


def test_an_optional_hook_may_be_unknown(site: Site) -> None:
    site.plugin("new", "@hookimpl(optionalhook=True)\ndef match_of_next_year(): ...")
    assert site.load().faults == ()


def test_a_failed_registration_leaves_nothing_behind(site: Site) -> None:
    text = """
    @hookimpl
    def match_hardware():
        return Hardware(socs=(chip("half"),))

    @hookimpl
    def match_patterns(unit, unknown_argument):
        return ()
    """
    plugins, fault = _with_good(site, "half", text)
    assert (fault.stage, fault.code) == ("register", "MATCH-H004")
    assert "unknown_argument" in fault.cause
    assert site.installed(plugins) == ["good"]
    row = next(row for row in plugins.plugins() if row.name == "half")
    assert (row.status, row.hooks) == ("refused", ())


def test_one_object_under_two_names(site: Site) -> None:
    site.install("pkg-twice", {"fake_twice": GOOD}, {"first": "fake_twice", "second": "fake_twice"})
    plugins = site.load()
    assert [fault.stage for fault in plugins.faults] == ["register"]
    assert plugins.soc("good").name == "good"


def test_a_hook_that_raises_for_somebody_else(site: Site) -> None:
    text = """
    @hookimpl
    def match_patterns(unit):
        raise KeyError("no such unit")
    """
    plugins, fault = _with_good(site, "bad", text)
    assert (fault.stage, fault.code) == ("match_patterns", "MATCH-H005")
    assert fault.cause.startswith("KeyError: 'no such unit' (fake_bad.py:")
    assert _status(plugins, "bad") == "faulty"


def test_faults_of_one_package_are_one_line() -> None:
    """Of another plugin of the package too; packages that nobody knows stay apart."""

    def fault(distribution: str, plugin: str, stage: str) -> PluginFault:
        return PluginFault(distribution, "1", plugin, stage, f"broken {stage}", "switch it off", "MATCH-H005")

    faults = [
        fault("a", "x", "match_patterns"),
        fault("b", "z", "import"),
        fault("a", "x", "match_cost"),
        fault("a", "y", "import"),
        fault("unknown", "p", "import"),
        fault("unknown", "q", "import"),
    ]
    lines = [first.line(others) for first, *others in by_package(faults)]
    assert lines == [
        "plugin x (a 1), match_patterns: broken match_patterns; also in match_cost, plugin y, import"
        " [MATCH-H005; switch it off]",
        *(str(fault) for fault in (faults[1], faults[4], faults[5])),
    ]


def test_every_name_that_clashes_is_told(site: Site) -> None:
    for name in "ab":
        site.plugin(name, GOOD)
    plugins = site.load()
    plugins.hardware()
    assert [fault.stage for fault in plugins.faults] == ["names", "names"]
    for fault in plugins.faults:
        assert "the unit name 'good_unit' is" in fault.cause and "the Soc name 'good' is" in fault.cause


def test_a_hook_that_raises_where_it_is_needed(site: Site) -> None:
    site.plugin("bad", GOOD.replace('return (pattern("p"),)', "raise SystemExit(9)"))
    plugins = site.load()
    soc = plugins.soc("good")
    unit = plugins.units_of(soc)[1]
    with pytest.raises(PluginError) as caught:
        plugins.patterns(soc, unit)
    error = caught.value
    assert (error.code, error.exit_code) == ("MATCH-H005", 3)
    assert "pkg-bad 1.0" in error.where
    assert error.why.startswith("SystemExit: 9 (fake_bad.py:")
    assert any("MATCH_DISABLE_PLUGINS=pkg-bad" in line for line in error.help)
    assert len(plugins.faults) == 1


def test_a_hardware_hook_that_raises(site: Site) -> None:
    plugins, fault = _with_good(site, "npu", "@hookimpl\ndef match_hardware():\n    return 1 // 0")
    assert fault.stage == "match_hardware"
    with pytest.raises(PluginError, match="target npu cannot be used"):
        plugins.soc("npu")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("42", "a value of type int, Hardware expected"),
        ("Hardware", "the class Hardware, Hardware expected"),
        ("Hardware(units=None)", "a value of type NoneType, tuple of Unit expected"),
        ("Hardware(socs=(unit('u'),))", "a value of type Unit at position 0, Soc expected"),
        ("Hardware(units=(unit('u'), unit('u')))", "gives the unit name 'u' twice"),
        ("Hardware(units=(unit('../etc'),))", "unit name '../etc' is not a lower-case C identifier"),
        ("Hardware(socs=(chip('A'),))", "Soc name 'A' is not a lower-case C identifier"),
        ("Hardware(units=(unit(7),))", "unit name 7 is not"),
    ],
)
def test_wrong_hardware(site: Site, answer: str, words: str) -> None:
    _, fault = _with_good(site, "bad", f"@hookimpl\ndef match_hardware():\n    return {answer}")
    assert (fault.stage, fault.code) == ("match_hardware", "MATCH-H006")
    assert words in fault.cause


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("pattern('p')", "a value of type Pattern, tuple of Pattern expected"),
        ("'p'", "a value of type str, tuple of Pattern expected"),
        ("[pattern('p'), None]", "NoneType at position 1, Pattern expected"),
        ("(pattern('p'), pattern('p'))", "gives the pattern name 'p' twice"),
        ("False", "a value of type bool"),
    ],
)
def test_wrong_patterns(site: Site, answer: str, words: str) -> None:
    _, fault = _with_good(site, "bad", f"@hookimpl\ndef match_patterns(unit):\n    return {answer}")
    assert (fault.stage, fault.code) == ("match_patterns", "MATCH-H006")
    assert words in fault.cause


def test_the_host_is_a_package_like_any_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import match_host.unit as unit_module

    monkeypatch.setattr(unit_module, "HOST_UNIT", 5)
    plugins = site.load()
    assert plugins.hardware().units == ()
    (fault,) = plugins.faults
    assert (fault.distribution, fault.stage, fault.code) == ("match-host", "match_hardware", "MATCH-H006")
