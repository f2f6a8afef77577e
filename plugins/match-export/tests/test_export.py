"""``match export``: packages that the ecosystems' rules accept, and what it refuses."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from match_core.contract.errors import UsageError
from match_export.export import KINDS, export_program
from match_export.verb import Kind

Match = Callable[..., "subprocess.CompletedProcess[str]"]
Files = Mapping[str, str]


def _files(folder: Path) -> dict[str, str]:
    """Text by path; archives are left out."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pack")
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}


def _sources_exist(files: Files, listed: list[str]) -> None:
    library = {name for name in files if name.startswith("src/") and name.endswith(".c")}
    assert library and library == set(listed)


def _cmake(files: Files) -> None:
    text = files["CMakeLists.txt"]
    _sources_exist(files, re.findall(r"^    (src/\S+\.c)$", text, flags=re.MULTILINE))
    assert "C_EXTENSIONS OFF" in text and "-ffp-contract=off" in text and "include/net.h" in files


def _zephyr(files: Files) -> None:
    """Modules: zephyr/module.yml names the folder of CMakeLists.txt and the Kconfig file."""
    module = files["zephyr/module.yml"]
    assert re.search(r"^name: [a-zA-Z0-9_-]+$", module, flags=re.MULTILINE)
    assert re.search(r"^build:\n  cmake: \.\n  kconfig: Kconfig$", module, flags=re.MULTILINE)
    (symbol,) = re.findall(r"^config (\w+)$", files["Kconfig"], flags=re.MULTILINE)
    lists = files["CMakeLists.txt"]
    assert f"if(CONFIG_{symbol})" in lists and "-ffp-contract=off" in lists
    _sources_exist(files, re.findall(r"^    (src/\S+\.c)$", lists, flags=re.MULTILINE))
    sample = "samples/net"
    assert f"CONFIG_{symbol}=y" in files[f"{sample}/prj.conf"] and "int main(void)" in files[f"{sample}/src/main.c"]
    assert "find_package(Zephyr REQUIRED" in files[f"{sample}/CMakeLists.txt"] and f"{sample}/sample.yaml" in files


def _arduino(files: Files) -> None:
    """Library specification 2.2: properties, a name of at most 63 characters, sources below src."""
    fields = dict(line.split("=", 1) for line in files["library.properties"].splitlines())
    required = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    assert required <= set(fields) and all(fields[name] for name in required)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.\-]{0,62}", fields["name"])
    assert fields["category"] == "Data Processing" and f"src/{fields['includes']}" in files
    sketches = [name for name in files if name.endswith(".ino")]
    assert sketches == ["examples/net_example/net_example.ino"]  # a sketch has the name of its folder
    assert "int main" not in files["examples/net_example/inference.c"]


def _platformio(files: Files) -> None:
    document = json.loads(files["library.json"])
    assert re.fullmatch(r"[^:;/,@<>]{1,100}", document["name"]) and document["version"] == "1.0.0"
    assert document["headers"] == "net.h" and "include/net.h" in files
    assert (document["build"]["srcDir"], document["build"]["includeDir"]) == ("src", "include")
    assert "-ffp-contract=off" in document["build"]["flags"]
    for example in document["examples"]:
        assert all(f"{example['base']}/{name}" in files for name in example["files"])


def _esp_idf(files: Files) -> None:
    assert re.search(r'^version: "1\.0\.0"$', files["idf_component.yml"], flags=re.MULTILINE)
    lists = files["CMakeLists.txt"]
    assert "idf_component_register(" in lists and "-ffp-contract=off" in lists
    _sources_exist(files, re.findall(r'"(src/\S+\.c)"', lists))
    assert "void app_main(void)\n{" in files["examples/net/main/main.c"]
    assert "return" not in files["examples/net/main/main.c"]


def _cmsis(files: Files) -> None:
    """Pack description: elements in the schema's order, and every file that it names."""
    package = ElementTree.fromstring(files["match.net.pdsc"])
    order = ["vendor", "name", "description", "url", "releases", "components"]
    assert [child.tag for child in package] == order
    (release,) = package.iterfind("releases/release")
    (component,) = package.iterfind("components/component")
    assert release.get("version") == component.get("Cversion") == "1.0.0"
    assert component.get("Cclass") and component.get("Cgroup")
    named = [(item.get("category"), item.get("name") or "") for item in component.iterfind("files/file")]
    assert all(name in files or any(path.startswith(name) for path in files) for _, name in named)
    sources = [name for category, name in named if category == "sourceC" and name.startswith("src/")]
    _sources_exist(files, sources)


RULES: Mapping[str, Callable[[Files], None]] = {
    "cmake": _cmake,
    "zephyr": _zephyr,
    "arduino": _arduino,
    "platformio": _platformio,
    "esp-idf": _esp_idf,
    "cmsis-pack": _cmsis,
}


def test_the_verb_offers_every_kind() -> None:
    assert {kind.value for kind in Kind} == set(KINDS) == set(RULES)


@pytest.mark.parametrize("kind", RULES)
def test_every_kind_is_what_its_ecosystem_expects(kind: str, program: Path, tmp_path: Path) -> None:
    names = export_program(program, kind, tmp_path / "out", "1.0.0")
    files = _files(tmp_path / "out")
    assert set(files) == {name for name in names if not name.endswith(".pack")}
    RULES[kind](files)
    for name, text in files.items():
        if name.endswith((".c", ".h", ".txt", ".yml", ".yaml")):
            assert "SPDX-License-Identifier: Apache-2.0" in text, name
    assert export_program(program, kind, tmp_path / "out", "1.0.0") == names  # again, over itself
    assert _files(tmp_path / "out") == files


@pytest.mark.parametrize("kind", ["zephyr", "arduino", "platformio", "esp-idf", "cmsis-pack"])
def test_sources_compile_with_the_folders_that_the_kind_has(kind: str, program: Path, tmp_path: Path) -> None:
    """As C with the kind's include folders; the example against them, and the header in C++17."""
    export_program(program, kind, tmp_path, "1.0.0")
    folders = [f"-I{tmp_path / name}" for name in ("include", "src") if (tmp_path / name).is_dir()]
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-main"]
    sources = list(tmp_path.rglob("*.c"))
    for number, source in enumerate(sources):
        done = subprocess.run(
            ["cc", *flags, *folders, "-c", str(source), "-o", str(tmp_path / f"{number}.o")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    text = '#include "net.h"\nint main() { return NET_OK; }\n'
    command = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *folders, "-x", "c++", "-fsyntax-only", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_pack_holds_its_description_and_files(program: Path, tmp_path: Path) -> None:
    export_program(program, "cmsis-pack", tmp_path, "2.1.0")
    archive = zipfile.ZipFile(io.BytesIO((tmp_path / "match.net.2.1.0.pack").read_bytes()))
    assert archive.testzip() is None
    for name in archive.namelist():
        assert archive.read(name) == (tmp_path / name).read_bytes()
    assert "match.net.pdsc" in archive.namelist()


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_installs_and_finds_the_package(program: Path, tmp_path: Path) -> None:
    """Configured, built, installed; the example finds it with find_package and runs."""
    export_program(program, "cmake", tmp_path / "package", "1.2.0")
    prefix = tmp_path / "prefix"
    for source, *options in (
        (tmp_path / "package", f"-DCMAKE_INSTALL_PREFIX={prefix}"),
        (tmp_path / "package" / "example", f"-DCMAKE_PREFIX_PATH={prefix}"),
    ):
        build = tmp_path / f"build_{source.name}"
        steps = [["cmake", "-S", str(source), "-B", str(build), *options], ["cmake", "--build", str(build)]]
        steps += [["cmake", "--install", str(build)]] if source.name == "package" else []
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    assert subprocess.run([tmp_path / "build_example" / "net_example"], check=False).returncode == 0


def test_platformio_packs_the_library(program: Path, tmp_path: Path) -> None:
    """PlatformIO reads the manifest and packs the folder: what ``pio pkg publish`` does first."""
    pio = shutil.which("pio")
    if pio is None:
        pytest.skip("platformio is not installed (pip install platformio)")
    export_program(program, "platformio", tmp_path / "library", "1.0.0")
    path = tmp_path / "library" / "library.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["license"]  # PlatformIO loads the list of licences from the network
    path.write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run(
        [pio, "pkg", "pack", str(tmp_path / "library"), "-o", str(tmp_path / "net.tar.gz")],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "net.tar.gz").stat().st_size > 1000


def test_the_verb(program: Path, tmp_path: Path, match_command: Match) -> None:
    done = match_command("export", program, "--as", "zephyr", "-o", tmp_path / "module", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)["result"]
    assert (result["kind"], result["output"]) == ("zephyr", str(tmp_path / "module"))
    assert all((tmp_path / "module" / name).is_file() for name in result["files"])
    done = match_command(
        "export", program, "--as", "arduino", "--output", tmp_path / "lib", "--release", "3.0.0", "--quiet"
    )
    assert done.returncode == 0 and done.stdout.endswith(f"next: cp -r {tmp_path / 'lib'} libraries\n")
    assert "version=3.0.0\n" in (tmp_path / "lib" / "library.properties").read_text(encoding="utf-8")
    done = match_command("export", program, "--as", "esp-idf", "-q", "-o", tmp_path / "idf")
    assert done.stdout.endswith(f"next: cp -r {tmp_path / 'idf'} components/net\n")
    done = match_command("export", program, "--as", "bazel", "-q", "-o", tmp_path / "other")
    assert done.returncode == 2


def test_what_cannot_be_exported(program: Path, tmp_path: Path) -> None:
    def code(folder: Path, kind: str, output: Path, release: str = "1.0.0") -> str:
        with pytest.raises(UsageError) as error:
            export_program(folder, kind, output, release)
        return error.value.code

    changed = shutil.copytree(program, tmp_path / "changed")
    assert code(tmp_path, "cmake", tmp_path / "out") == "MATCH-U030"
    assert code(program, "cmake", tmp_path / "out", "1.0") == "MATCH-U106"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words", encoding="utf-8")
    assert code(program, "cmake", tmp_path / "mine") == "MATCH-U010"
    (changed / "net_host.c").write_text("/* faster */\n", encoding="utf-8")
    assert code(changed, "cmake", tmp_path / "out") == "MATCH-U104"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/b/c"])
def test_a_manifest_that_names_other_files(name: str, program: Path, tmp_path: Path) -> None:
    hostile = shutil.copytree(program, tmp_path / "program")
    document = json.loads((hostile / "match.lock.json").read_text(encoding="utf-8"))
    document["files"][name] = "0" * 64
    (hostile / "match.lock.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match=r"MATCH-U104|outside"):
        export_program(hostile, "zephyr", tmp_path / "out", "1.0.0")


def test_a_program_that_needs_an_sdk(program: Path, tmp_path: Path) -> None:
    """Only CMake packages leave the SDK's directories to the user."""
    foreign = shutil.copytree(program, tmp_path / "program")
    source = foreign / "net_host.c"
    source.write_text('#include "pmsis.h"\n' + source.read_text(encoding="utf-8"), encoding="utf-8")
    document = json.loads((foreign / "match.lock.json").read_text(encoding="utf-8"))
    document["files"]["net_host.c"] = hashlib.sha256(source.read_bytes()).hexdigest()
    (foreign / "match.lock.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match=r"pmsis\.h"):
        export_program(foreign, "arduino", tmp_path / "out", "1.0.0")
    assert "CMakeLists.txt" in export_program(foreign, "cmake", tmp_path / "out", "1.0.0")
