"""One test for each mechanism: ``python -m tests.quick``, or ``make test-quick``. Under 2 minutes on 2 cores.

This table is the only place that lists these tests. A row is a mechanism, a room or a package, and its tests as pytest
names them; ``tests/docs/test_developing.py`` checks that every room of the core and every package has one.
"""

from __future__ import annotations

import sys

import pytest

#: Mechanism -> tests.
QUICK: dict[str, tuple[str, ...]] = {
    "architecture": ("tests/architecture/test_never.py",),
    # the rooms of the core
    "contract": ("tests/docs/test_contract.py::test_the_contract_is_as_recorded",),
    "io": ("core/tests/io/test_half_arrays.py",),
    "ir": ("core/tests/ir/test_editor.py", "core/tests/ir/test_forms.py"),
    "validate": ("core/tests/plan/test_validate_plan.py", "core/tests/schedule/test_validate.py"),
    "patterns": ("core/tests/patterns/test_matcher.py",),
    "regions": ("core/tests/regions/test_body.py",),
    "plugin": ("tests/docs/test_hook_pages.py::test_every_hook_is_answered_by_its_example",),
    "board": ("core/tests/board/test_document.py",),
    "load": ("core/tests/load/test_shapes.py",),
    "passes": ("core/tests/passes/test_clean.py", "core/tests/passes/test_float.py"),
    "match": ("core/tests/patterns/test_candidates.py",),
    "schedule": ("core/tests/schedule/test_nest.py",),
    "map": ("core/tests/plugin/test_false_claims.py",),
    "plan": ("core/tests/plan/test_plan.py", "core/tests/plan/test_streaming.py"),
    "lower": ("core/tests/emit/test_text.py",),
    "deploy": ("core/tests/plan/test_variants.py",),
    "emit": ("tests/end_to_end/test_golden_c.py::test_emitted_c",),
    "summary": ("tests/report/test_trace.py",),
    "run": (
        "core/tests/run/test_merge.py",
        "core/tests/run/test_contexts.py::test_the_one_whose_time_is_smallest_goes_on",
    ),
    "cli": ("core/tests/cli/test_command.py::test_usage_errors_have_four_parts",),
    # packages that chips share
    "match-host": (
        "tests/host/test_bounded.py",  # elementwise
        "tests/host/test_resize.py::test_hostile_scales_stay_inside",  # image
        "tests/host/test_transpose_tiles.py",  # movement
        "tests/host/test_depthwise.py",  # products
        "tests/host/test_pool.py",  # reduction
        "tests/host/test_n_grams.py",  # sequence
    ),
    "match-quant": (
        "core/tests/passes/test_requant.py",
        "core/tests/passes/test_recognise.py",
        "tests/end_to_end/test_quantize_verb.py::test_a_network_is_quantised_and_runs[options0]",
    ),
    "match-schedule": ("core/tests/schedule/test_share.py",),
    "match-map": ("core/tests/map/test_mapper.py",),
    "match-concurrent": (
        "core/tests/map/test_timeline.py",
        "core/tests/plan/test_concurrent.py::test_what_a_plan_claims_is_computed_again",
    ),
    "match-beyond": ("plugins/match-beyond/tests/test_stripes.py",),
    "match-regions": ("tests/regions/test_pattern.py",),
    "match-tflite": ("tests/tflite/test_quantised.py",),
    "match-report": ("tests/report/test_titles.py", "tests/report/test_memory_map.py"),
    "match-verify": (
        "tests/verify/test_float_bounds.py",
        "tests/end_to_end/test_micro.py::test_micro_convolution[micro_conv_std_16x16_c64_int]",
    ),
    "match-python": ("plugins/match-python/tests/test_functions.py::test_the_options_are_those_of_the_verbs",),
    "match-calibrate": ("plugins/match-calibrate/tests/test_solve.py",),
    "match-export": ("plugins/match-export/tests/test_export.py::test_every_kind_is_what_its_ecosystem_expects",),
    "match-explore": ("plugins/match-explore/tests/test_study.py",),
    "match-kit": ("tests/kit/test_badge.py",),
    "match-qemu": ("tests/qemu/test_choices.py", "tests/qemu/test_line.py"),
    # chips
    "match-gap9": (
        "plugins/match-gap9/tests/test_presets.py",
        "plugins/match-gap9/tests/twin/test_pulp_nn_depthwise.py",
    ),
    "match-carfield": ("plugins/match-carfield/tests/patterns/test_rules.py",),
    "match-ita": ("plugins/match-ita/tests/ita/test_ita_rules.py",),
    "match-diana": ("plugins/match-diana/tests/digital/test_digital_rules.py",),
    "match-cortexm": ("plugins/match-cortexm/tests/test_numbers.py",),
    "match-cmsisnn": ("plugins/match-cmsisnn/tests/test_rounding.py",),
    "match-dnnl": ("plugins/match-dnnl/tests/test_lowering.py",),
    # what holds it together
    "docs": ("tests/docs/test_reference.py::test_every_error_code_has_a_section_and_every_section_a_code",),
}


def nodes() -> tuple[str, ...]:
    """All tests, as pytest names them."""
    return tuple(node for tests in QUICK.values() for node in tests)


if __name__ == "__main__":
    options = ["-n", "2", "--dist", "worksteal", "-m", "not slow", "--hypothesis-profile=ci", "-q"]
    sys.exit(pytest.main([*options, *sys.argv[1:], *nodes()]))
