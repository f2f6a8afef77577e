"""Programs with regions, in each format of code: what they compute on the twin, and their files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import onnx.parser
import pytest
from match_core.contract.errors import InfeasibleError, PluginError, ToolError
from match_core.contract.observe import NullObserver
from match_core.emit.partition import partition
from match_core.pipeline import CompileRequest, build_program
from match_verify.verify import VerifyRequest, verify_model

from core.tests.regions.engine_plugin import plugin

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

FORMATS = ("json", "c", "binary")
HEAD = '<ir_version: 10, opset_import: ["" : 21]> net '
#: Two regions around a Sigmoid: results that are graph outputs and read on, graph inputs read by both, a scalar.
NET = """(float[4,6] x, float[4,6] y) => (float[4,6] early, float[4,6] late, float[4,6] other)
    <float[4,6] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24}, float s = {0.5}> {
    early = Add (x, w)
    p = Mul (early, y)
    q = Relu (p)
    m = Sigmoid (q)
    n = Sub (m, s)
    late = Mul (n, early)
    k = Neg (x)
    other = Add (k, late) }"""


def model(folder: Path, text: str = NET, name: str = "net") -> Path:
    path = folder / f"{name}.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), str(path))
    return path


def loaded(site: Site, form: str, **options: object) -> Plugins:
    site.plugin("engine", plugin(form, **options))  # type: ignore[arg-type]  # the options of ``plugin``
    plugins = site.load()
    assert plugins.faults == ()
    return plugins


def compiled(path: Path, plugins: Plugins, target: str = "engine_chip") -> Compilation:
    return build_program(CompileRequest(path, target), plugins, NullObserver())


@pytest.mark.parametrize("form", FORMATS)
def test_programs_are_right(site: Site, tmp_path: Path, form: str) -> None:
    plugins = loaded(site, form)
    result = verify_model(VerifyRequest(model(tmp_path), "engine_chip", sanitize=True), plugins)
    assert result.ok
    assert [node.unit for node in result.run.nodes].count("engine") == 2
    assert all(node.unit in ("engine", "host") for node in result.run.nodes)


def test_tasks_that_the_platform_hands_to_the_unit(site: Site, tmp_path: Path) -> None:
    plugins = loaded(site, "json", call=True)
    sources = compiled(model(tmp_path), plugins).sources
    assert "if (engine_call(net_engine_00, &task) != 0) {" in sources.text("net.c")
    assert verify_model(VerifyRequest(model(tmp_path), "engine_chip", sanitize=True), plugins).ok


@pytest.mark.parametrize("mode", ["eager", "lazy", "lazy:engine", "lazy:host", "threads:3"])
def test_units_side_by_side(site: Site, tmp_path: Path, mode: str) -> None:
    request = VerifyRequest(model(tmp_path), "beside_chip", sanitize=mode == "eager", mode=mode, execution="concurrent")
    result = verify_model(request, loaded(site, "json"))
    assert result.ok
    assert {node.unit for node in result.run.nodes} == {"host", "engine"}
    assert result.compilation.program.queues


def test_files_of_each_format(site: Site, tmp_path: Path) -> None:
    """JSON beside the program is what the program holds; C is a file of its own; binary code is in the tables only."""
    plugins = loaded(site, "json")
    sources = compiled(model(tmp_path), plugins).sources
    names = {file.name for file in sources.files}
    for name in ("net_region_00.json", "net_region_02.json"):
        content = sources.text(name)
        json.loads(content)
        assert ",".join(map(str, content.encode())) in re.sub(r"\s", "", sources.text("net_regions.c"))
    assert {"net_regions.c", "match_region.h"} <= names
    assert "net_regions.o" in sources.text("Makefile")
    manifest = json.loads(sources.text("match.lock.json"))
    assert [region["name"] for region in manifest["regions"]] == ["net_engine_00", "net_engine_02"]
    first = manifest["regions"][0]
    assert (first["unit"], first["format"], first["nodes"], first["inputs"], first["outputs"]) == (
        "engine", "json", 4, 2, 3,
    )  # fmt: skip
    assert first["code_bytes"] == len(sources.text("net_region_00.json").encode())
    assert first["node"] == 0 and manifest["nodes"][0]["unit"] == "engine"
    assert (first["constants"], first["constant_bytes"]) == (1, 96)


def test_code_in_c_is_a_file_and_no_data(site: Site, tmp_path: Path) -> None:
    compilation = compiled(model(tmp_path), loaded(site, "c"))
    names = {file.name for file in compilation.sources.files}
    assert {"net_engine_00.c", "net_engine_02.c"} <= names
    assert not any(name.startswith("net_region_") for name in names)
    assert "_code[" not in compilation.sources.text("net_regions.c")
    manifest = json.loads(compilation.sources.text("match.lock.json"))
    assert [region["code_bytes"] for region in manifest["regions"]] == [0, 0]


def test_code_counts_in_the_memory_plan(site: Site, tmp_path: Path) -> None:
    """Bytes of code and constants lie in the home memory; what both regions read is there once."""
    text = NET.replace("Sub (m, s)", "Sub (m, w)")
    compilation = compiled(model(tmp_path, text), loaded(site, "json"))
    manifest = json.loads(compilation.sources.text("match.lock.json"))
    code = sum(region["code_bytes"] for region in manifest["regions"])
    assert code > 0
    assert manifest["memory"]["ram"]["constant_bytes"] == code + 24 * 4
    assert [region["constant_bytes"] for region in manifest["regions"]] == [96, 96]
    assert compilation.sources.text("net_regions.c").count("net_00_0}") == 2


def test_what_fits_without_the_code_runs_elsewhere_or_is_refused(site: Site, tmp_path: Path) -> None:
    plugins, path = loaded(site, "json"), model(tmp_path)
    program = compiled(path, plugins).program
    need = program.memory[0].used_bytes
    less = CompileRequest(path, "engine_chip", memory=(("ram", need - 64),))
    other = build_program(less, plugins, NullObserver()).program
    assert other.memory[0].used_bytes <= need - 64 and other.predicted_cycles > program.predicted_cycles
    alone = model(tmp_path, "(float[4,6] x) => (float[4,6] y) { k = Neg (x)\n y = Add (k, x) }", "alone")
    need = compiled(alone, plugins).program.memory[0].used_bytes
    without = replace(less, model=alone, memory=(("ram", need - 64),), without_units=("host",))
    with pytest.raises(InfeasibleError, match="JSON code of") as caught:
        build_program(without, plugins, NullObserver())
    assert caught.value.code == "MATCH-M001"


def test_libraries_are_in_the_build_files(site: Site, tmp_path: Path) -> None:
    sources = compiled(model(tmp_path), loaded(site, "json", libraries=("dl", "pthread"))).sources
    assert "LDLIBS = -ldl -lpthread\n" in sources.text("Makefile")
    assert "target_link_libraries(net PUBLIC dl pthread)\n" in sources.text("CMakeLists.txt")


def test_folders_are_in_the_build_files(site: Site, tmp_path: Path) -> None:
    sources = compiled(model(tmp_path), loaded(site, "json", folders=("SOME_DIR", "SOME_DIR/include"))).sources
    assert "STANDARD += -isystem $(SOME_DIR) -isystem $(SOME_DIR)/include\n" in sources.text("Makefile")
    lines = sources.text("CMakeLists.txt").splitlines()
    assert 'target_include_directories(net SYSTEM PUBLIC "$ENV{SOME_DIR}/include")' in lines


def test_the_twin_searches_folders(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there gives no warnings, which would be errors in a program's own files."""
    text = plugin("json", folders=("SOME_DIR/include",)).replace("#include <stdlib.h>", "#include <own.h>", 1)
    site.plugin("engine", text)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "own.h").write_text("#include <stdlib.h>\nstatic int unused(void) { return 1u << 31; }\n")
    for place, why in ((None, "SOME_DIR is not set"), (tmp_path / "no", f"there is no folder {tmp_path}/no/include")):
        if place is not None:
            monkeypatch.setenv("SOME_DIR", str(place))
        with pytest.raises(ToolError) as caught:
            verify_model(VerifyRequest(model(tmp_path), "engine_chip"), site.load())
        assert (caught.value.code, caught.value.why) == ("MATCH-T005", why)
        assert caught.value.where == "folder $SOME_DIR/include, unit engine"
    monkeypatch.setenv("SOME_DIR", str(tmp_path))
    assert verify_model(VerifyRequest(model(tmp_path), "engine_chip"), site.load()).ok


def test_folders_begin_with_a_variable(site: Site, tmp_path: Path) -> None:
    site.plugin("engine", plugin("json", folders=("/usr/include",)))
    with pytest.raises(PluginError, match="folder '/usr/include' is not a variable of the environment and a path"):
        compiled(model(tmp_path), site.load())


def test_programs_without_the_unit_have_nothing_of_it(site: Site, tmp_path: Path) -> None:
    plugins = loaded(site, "json", libraries=("dl",))
    request = CompileRequest(model(tmp_path), "engine_chip", without_units=("engine",))
    sources = build_program(request, plugins, NullObserver()).sources
    names = {file.name for file in sources.files}
    assert not names & {"net_regions.c", "match_region.h", "engine.c"}
    assert "LDLIBS" not in sources.text("Makefile")
    assert "regions" not in sources.text("net.c") + sources.text("net.h") + sources.text("net_tasks.h")
    assert json.loads(sources.text("match.lock.json"))["regions"] == []


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_model_gives_the_same_bytes(site: Site, tmp_path: Path, form: str) -> None:
    plugins = loaded(site, form)
    first, second = (compiled(model(tmp_path), plugins).sources.files for _ in range(2))
    assert first == second


def test_the_mapped_model_is_valid(site: Site, tmp_path: Path) -> None:
    """A call of a region stands before what reads any of its outputs, and the model computes the same."""
    compilation = compiled(model(tmp_path), loaded(site, "binary"))
    mapped = partition(compilation.model, compilation.mapping)
    onnx.checker.check_model(mapped)
    made = {tensor.name for tensor in (*mapped.graph.input, *mapped.graph.initializer)}
    for node in mapped.graph.node:
        assert set(node.input) <= made
        made |= set(node.output)


FAULTS = {
    "code of region engine_region: TypeError: gives a value of type bytes, RegionCode expected": "return b''",
    "code of region engine_region: ValueError: format 'elf', one of json, c, binary expected": (
        "return RegionCode('elf', b'', 'a', 'b', 'c')"
    ),
    "code of region engine_region: ValueError: run is 'b(); x', the name of a C function expected": (
        "return RegionCode('json', b'', 'a', 'b(); x', 'c')"
    ),
    "code of region engine_region: TypeError: content is str, bytes expected": (
        "return RegionCode('json', '', 'a', 'b', 'c')"
    ),
    "code of region engine_region: ValueError: constant 0 has elements of type complex64, which C cannot carry": (
        "return RegionCode('json', b'', 'a', 'b', 'c', (np.zeros(1, np.complex64),))"
    ),
    "code of region engine_region: ValueError: scratch_bytes is -1, a number of bytes expected": (
        "return RegionCode('json', b'', 'a', 'b', 'c', (), -1)"
    ),
    "code of region engine_region: KeyError: 'Tanh'": "raise KeyError('Tanh')",
}


@pytest.mark.parametrize("told", FAULTS)
def test_wrong_code_is_the_fault_of_the_package(site: Site, tmp_path: Path, told: str) -> None:
    text = plugin("json").replace("def compiled(request):\n", f"def compiled(request):\n    {FAULTS[told]}\n")
    site.plugin("engine", text)
    with pytest.raises(PluginError) as caught:
        compiled(model(tmp_path), site.load())
    assert caught.value.code == "MATCH-H005"
    assert f"{caught.value.what.removesuffix(' failed')}: {caught.value.why}".startswith(told)
    assert "pkg-engine" in caught.value.where


def test_libraries_are_names(site: Site, tmp_path: Path) -> None:
    site.plugin("engine", plugin("json", libraries=("-Wl,x",)))
    with pytest.raises(PluginError, match="library '-Wl,x' is not a valid name for -l"):
        compiled(model(tmp_path), site.load())


def test_equal_regions_share_their_code(site: Site, tmp_path: Path) -> None:
    """Two regions that differ in their constants only have one array of code and a table each."""
    text = """(float[1,8] x) => (float[1,8] z) <float a = {0.5}, float b = {0.25}> {
        p = Mul (x, a)  q = Relu (p)  r = Sigmoid (q)  s = Mul (r, b)  z = Relu (s) }"""
    plugins = loaded(site, "json")
    tables = compiled(model(tmp_path, text), plugins).sources.text("net_regions.c")
    assert tables.count("_code[") == 1
    assert tables.count(".code = net_engine_00_code,") == 2
    assert verify_model(VerifyRequest(model(tmp_path, text), "engine_chip", sanitize=True), plugins).ok


def test_names_of_the_model_do_not_reach_the_tables(site: Site, tmp_path: Path) -> None:
    path = model(tmp_path)
    proto = onnx.load(str(path))
    for node in proto.graph.node:
        node.name = f'*/ #include "{node.op_type}" \n'
    onnx.save(proto, str(path))
    plugins = loaded(site, "c")
    assert "*/ #include" not in compiled(path, plugins).sources.text("net_regions.c")
    assert verify_model(VerifyRequest(path, "engine_chip"), plugins).ok


@pytest.mark.parametrize(("header", "code"), [("nobodys/engine.h", "MATCH-T005"), ("match_nobodys.h", "MATCH-T002")])
def test_a_header_that_is_not_there(site: Site, tmp_path: Path, header: str, code: str) -> None:
    """Of a unit with libraries it is one of theirs that is not installed, unless its name is one of a program's."""
    text = plugin("json", libraries=("m",)).replace('#include "engine.h"\n#include <stdlib.h>', f"#include <{header}>")
    site.plugin("engine", text)
    with pytest.raises(ToolError) as caught:
        verify_model(VerifyRequest(model(tmp_path), "engine_chip"), site.load())
    assert caught.value.code == code
    assert header in caught.value.why
    assert code != "MATCH-T005" or caught.value.where == "library m, unit engine"
