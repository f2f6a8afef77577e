"""Names of programs clash with nothing that C or POSIX has."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.ir.program_name import program_name


@pytest.mark.parametrize("name", ["int8", "uint_fast16", "size", "math", "string", "Time", "match_twin", "int"])
def test_names_of_others_do_not_stay(name: str) -> None:
    assert program_name(name) != name


@pytest.mark.parametrize("name", ["resnet8", "int4", "model", "mathematics"])
def test_other_names_stay(name: str) -> None:
    assert program_name(name) == name


@given(st.text())
def test_stable(text: str) -> None:
    assert program_name(program_name(text)) == program_name(text)


def test_types_of_the_machine_at_hand_are_known() -> None:
    """Whatever ends in _t in the preprocessed headers."""
    headers = ("stdint", "stddef", "stdlib", "string", "math", "time", "stdatomic", "inttypes", "pthread", "stdio")
    source = "".join(f"#include <{header}.h>\n" for header in headers)
    done = subprocess.run(["cc", "-std=c11", "-E", "-P", "-"], input=source, capture_output=True, text=True, check=True)
    words = set(done.stdout.replace("*", " ").replace(";", " ").replace("(", " ").split())
    types = {word[:-2] for word in words if word.endswith("_t") and word.isidentifier() and not word.startswith("_")}
    assert len(types) > 20
    assert {name for name in types if program_name(name) == name} == set()
