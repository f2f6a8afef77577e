"""A fixed sample of changed TFLite files ends in models or coded errors; ``make fuzz`` also compiles and runs them."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import model_from_proto
from match_tflite.convert import tflite_to_onnx

from tests.fuzz.tflite_cases import mutated_tflite, sites, tflite_case, tflite_seeds


def _ends(content: bytes) -> str:
    try:
        model_from_proto(tflite_to_onnx(content, "net.tflite"), "net", "net.tflite")
    except ModelError as error:
        return error.code
    return "accepted"


def test_every_seed_is_accepted() -> None:
    assert {_ends(content) for _, content in tflite_seeds()} == {"accepted"}


def test_a_fixed_sample() -> None:
    ends = Counter(_ends(tflite_case(Random(f"sample/{number}"))[2]) for number in range(150))
    assert all(end == "accepted" or end.startswith("MATCH-F0") for end in ends)
    assert ends["accepted"] > 10 and ends["MATCH-F021"] > 10 and len(ends) > 3


@pytest.mark.parametrize("name", ["tflite network", "tflite variable"])
def test_places_of_all_kinds_are_found(name: str) -> None:
    content = dict(tflite_seeds())[name]
    kinds = {site.kind for site in sites(content)}
    assert kinds >= {"slot", "offset", "entry", "length", "b", "i", "f"}
    assert all(0 <= site.place < len(content) for site in sites(content))


def test_a_mutation_depends_on_the_seed_only() -> None:
    content = tflite_seeds()[0][1]
    assert mutated_tflite(content, Random(3)) == mutated_tflite(content, Random(3))
