"""NE16: cycles against the formulas, queue and registers, lazy mode, faults."""

from __future__ import annotations

import numpy as np
import pytest
from match_gap9.constants import values
from match_gap9.ne16 import formulas as ne16_formulas
from ne16_harness import EXACT_PADDING, NO_RESOLVE, Layer, random_layer, run, stride2_layers

from .conftest import SANITIZE

# ---- time ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["as-published", "engine"])
def test_elapsed_cycles_of_layers(build, new_script, preset):
    """Trigger to resolve, programming included; stride 2 dispatches a job per 2x2 outputs."""
    timing = values(preset)
    rng = np.random.default_rng(71)
    layers = [random_layer(rng) for _ in range(15)] + stride2_layers(rng, 15)
    script = new_script()
    script.add("ne16 init")
    for layer in layers:
        script.top = 0
        layer.place(script)
        script.add("clocks")
        script.add(layer.command())
        script.add("clocks")
    clocks = [int(line.split()[1]) for line in build(preset).run(script.text())]
    for index, layer in enumerate(layers):
        rows, columns, _ = layer.out_shape
        sizes = {"out_y": rows, "out_x": columns, "stride": layer.stride, "quant": layer.quant()}
        pads = {"in_y": layer.in_y, "pad_top": layer.pads[0], "pad_bottom": layer.pads[1], "pad_right": layer.pads[3]}
        name = "conv1x1" if layer.kernel == 1 else "depthwise3x3" if layer.depthwise else "conv3x3"
        expected = ne16_formulas.ne16_layer(timing, name, k_out=layer.k_out, k_in=layer.k_in, **sizes, **pads)
        assert clocks[2 * index + 1] - clocks[2 * index] == int(expected), layer.command()


# ---- queue, registers, lazy mode -------------------------------------------------------------------------------


def place(script, layer):
    script.add("ne16 init")
    layer.place(script)
    return layer


def test_two_contexts_and_status(driver, script):
    layer = place(script, Layer(flags=NO_RESOLVE))
    script.add("ne16 read 3")
    script.add(layer.command())
    script.add("ne16 read 3")
    script.add("ne16 again")
    script.add("ne16 read 3")
    script.add("ne16 again")
    script.add("ne16 read 4")
    script.add("ne16 event")
    script.add("ne16 read 3")
    script.add("ne16 read 4")
    script.add("ne16 check")
    script.add("ne16 resolve")
    script.add("ne16 check")
    script.add("ne16 read 3")
    script.add("ne16 read 2")
    assert driver.run(script.text()) == [
        "0", "1", "0", str(0x101), "1", "0", str(0x100), "1", "0", "1", "0", "2",
    ]  # fmt: skip


def test_job_words_follow_the_register_map(driver, script):
    layer = place(script, Layer(in_y=7, in_x=8, k_in=20, k_out=40, pads=(1, 1, 1, 1), pad_value=5, shift=9, relu=False))
    script.add(layer.command())
    script.add("ne16 words")
    words = [int(word) for word in driver.run(script.text())[0].split()]
    o = layer.offsets
    assert words[0] == o["w"]
    assert words[1] == (o["x"] - (8 + 1) * 20) % (1 << 32)
    assert [words[2], words[3], words[5]] == [o["out"], o["scale"], o["bias"]]
    assert words[6:9] == [20, 8 * 20, 0]
    assert words[9:12] == [32, 40, 8 * 40]
    assert words[12:15] == [18, 18 * 8 * 2, 0]
    assert words[15:18] == [8 << 16 | 4, 1 << 16 | 2, 2 << 16 | 3]
    assert words[18:20] == [2 << 16 | 2, 3 << 16 | 3]
    assert words[20] == 0x11110005
    assert words[21] == (1 << 32) - 128
    assert words[23] == 7 | 1 << 4 | 2 << 12 | 1 << 15 | 9 << 16 | 1 << 23 | 1 << 25


def test_lazy_mode_shows_a_missing_wait(driver, script, dumped):
    layer = place(script, Layer(flags=NO_RESOLVE, shift=18))
    script.add(layer.command())
    script.dump(layer.offsets["out"], layer.out_bytes)
    script.add("deferred")
    script.add("ne16 resolve")
    script.dump(layer.offsets["out"], layer.out_bytes)
    early, deferred, late = driver.run("mode lazy\n" + script.text())
    assert set(dumped(early).tolist()) == {0xA5}
    assert deferred == "1"
    np.testing.assert_array_equal(dumped(late).reshape(layer.out_shape), layer.expected())
    np.testing.assert_array_equal(dumped(driver.run(script.text())[0]).reshape(layer.out_shape), layer.expected())


def test_lazy_stride_2_equals_eager(driver, script, dumped):
    rng = np.random.default_rng(81)
    layers = stride2_layers(rng, 8)
    for got, layer in zip(run(driver, dumped, script, layers, prefix=("mode lazy",)), layers, strict=True):
        np.testing.assert_array_equal(got, layer.expected())


def test_only_changed_words_are_written_from_the_third_job_on(build, script, dumped):
    """The same outputs as with all words, for fewer cycles where jobs are short."""
    layer = place(script, Layer(depthwise=True, stride=2, in_y=9, in_x=12, k_in=16, k_out=16))
    for command in ("clocks", layer.command(), "clocks"):
        script.add(command)
    script.dump(layer.offsets["out"], layer.out_bytes)
    cycles = []
    for flags in ((), ("-DMATCH_GAP9_NE16_ALL_WORDS",)):
        before, after, output = build("open-sdk", (*SANITIZE, *flags)).run(script.text())
        np.testing.assert_array_equal(dumped(output).reshape(layer.out_shape), layer.expected())
        cycles.append(int(after.split()[1]) - int(before.split()[1]))
    timing = values("open-sdk")
    jobs, job = 9, int(ne16_formulas.ne16_job(timing, "depthwise3x3", out_y=3, out_x=3, k_out=16, quant=layer.quant()))
    programming = timing["ne16_program_cycles"]
    assert job < programming and cycles[1] == jobs * programming + job
    changed = programming - 21 * timing["ne16_word_cycles"]
    assert changed < job and cycles[0] == 2 * programming + (jobs - 1) * job


def test_lazy_mode_shows_an_input_overwritten_too_early(driver, script, dumped):
    layer = place(script, Layer(flags=NO_RESOLVE, shift=18))
    script.add(layer.command())
    script.add("write l1", layer.offsets["x"], "00" * layer.x.size)
    script.add("ne16 resolve")
    script.dump(layer.offsets["out"], layer.out_bytes)
    lazy = dumped(driver.run("mode lazy\n" + script.text())[0]).reshape(layer.out_shape)
    assert (lazy != layer.expected()).any()


def test_changed_weights_at_the_same_place_are_seen(driver, script, dumped):
    """The decoder keeps the last weights; new bytes at the same address must not be missed."""
    first, second = (Layer(seed=seed, shift=18) for seed in (1, 2))
    outputs = run(driver, dumped, script, [first, second])
    np.testing.assert_array_equal(outputs[1], second.expected())


# ---- faults ----------------------------------------------------------------------------------------------------


def fault_of(driver, script, layer, *after, init=True):
    if init:
        script.add("ne16 init")
    layer.place(script)
    script.add(layer.command())
    script.lines += after
    return driver.fault(script.text())


def test_addresses_outside_of_l1_fault(driver, new_script):
    for key, what in (("x", "NE16 input"), ("w", "NE16 weights"), ("out", "NE16 output"), ("scale", "NE16 scale"),
                      ("bias", "NE16 bias")):  # fmt: skip
        script, layer = new_script(), Layer(pads=(0, 0, 0, 0))
        script.add("ne16 init")
        layer.place(script)
        layer.offsets[key] = 131072 - 1
        script.add(layer.command())
        assert what in driver.fault(script.text())


def test_padding_before_l1_is_not_read(driver, script, dumped):
    """The input pointer of a padded tile may lie before L1: those pixels are replaced, not read."""
    layer = Layer(pads=(2, 2, 2, 2), shift=18)
    assert layer.offsets == {}
    (got,) = run(driver, dumped, script, [layer])
    assert layer.offsets["x"] == 0
    np.testing.assert_array_equal(got, layer.expected())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel": 1, "pads": (1, 0, 0, 0)}, "neither padding"),
        ({"kernel": 1, "pads": (0, 0, 0, 0), "masks": (1, 0, 0, 0)}, "neither padding"),
        ({"scale_bits": 0}, "not modelled"),
        ({"stride": 2, "k_out": 33}, "even output strides"),
        ({"stride": 2, "pads": (1, 2, 1, 1)}, "pads stride 2 wrongly"),
        ({"stride": 2, "in_y": 3, "pads": (0, 1, 1, 1)}, "pads stride 2 wrongly"),
        ({"stride": 2, "in_x": 2, "pads": (1, 1, 0, 1)}, "pads stride 2 wrongly"),
        ({"in_y": 4, "pads": (0, 2, 1, 1)}, "bottom reaches"),
        ({"in_x": 7, "pads": (0, 0, 0, 2), "flags": EXACT_PADDING}, "right reaches"),
        ({"masks": (4, 0, 0, 0)}, "filter mask above 3"),
    ],
)
def test_undefined_jobs_fault(driver, script, changes, message):
    assert message in fault_of(driver, script, Layer(**changes))


@pytest.mark.parametrize(
    ("word", "value", "message"),
    [
        (21, 300, "weight offset"),
        (23, 1 << 7 | 2 << 21, "not modelled"),
        (23, 1 << 3 | 2 << 21, "not modelled"),
        (15, 40 << 16 | 16, "remainder Ko"),
        (18, 0, "count is 0"),
    ],
)
def test_undefined_words_fault(driver, script, word, value, message):
    assert message in fault_of(driver, script, Layer(), f"ne16 word {word} {value}", "ne16 again")


def test_using_a_closed_engine_faults(driver, script):
    assert "clock is gated" in fault_of(driver, script, Layer(), init=False)


def test_closing_while_a_job_runs_faults(driver, script):
    assert "running" in fault_of(driver, script, Layer(flags=NO_RESOLVE), "ne16 term")


def test_waiting_for_nothing_faults(driver, script):
    assert "never comes" in fault_of(driver, script, Layer(), "ne16 event", "ne16 event")
