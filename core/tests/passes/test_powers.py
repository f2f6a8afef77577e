"""Passes for units that shift their sums, for any unit that states its kernels."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.hardware import RequantSpec
from match_core.ir.geometry import ConvGeometry
from match_quant.powers import ShiftUnit, shift_passes

UNIT = ShiftUnit("unit", RequantSpec(1, False, 32, shift_max=15), sides=(1, 3), strides=(1, 2))


def _wider(unit, kernel=(3, 3), stride=1, pads=(1, 1, 1, 1), group=1, channels=(8, 8), size=(8, 8)):
    return unit.wider(ConvGeometry(kernel, (stride, stride), (1, 1), pads, group), size, channels)


def test_passes_have_the_name_of_the_unit_and_folding_is_a_choice():
    names = [item.name for item in shift_passes(UNIT)]
    assert names == ["unit_power_of_two", "unit_shift", "unit_symmetric_padding"]
    folding = [item.name for item in shift_passes(replace(UNIT, folds=True))]
    assert folding == ["unit_power_of_two", "unit_shift", "unit_fold_stride", "unit_symmetric_padding"]
    assert shift_passes(UNIT)[0].lossy


@pytest.mark.parametrize(
    "layer", [{"kernel": (5, 5)}, {"stride": 3}, {"group": 2}, {"group": 8}, {"pads": (0, 0, 1, 1), "stride": 2}]
)
def test_layers_that_the_unit_lacks_keep_their_arithmetic(layer):
    assert _wider(UNIT, **layer) is None


def test_depthwise_layers_and_uneven_padding_where_the_unit_has_them():
    assert _wider(replace(UNIT, depthwise=True), group=8) is not None
    wide = _wider(replace(UNIT, any_padding=True), pads=(0, 0, 1, 1), stride=2)
    assert wide is not None and wide.pads == (0, 0, 1, 1)
    assert (wide.rows.before, wide.rows.after) == (0, 0)


def test_a_side_between_two_of_the_unit_gets_zero_taps():
    wide = _wider(UNIT, kernel=(2, 2), pads=(0, 0, 0, 0))
    assert wide is not None and wide.rows.side.kernel == 3
