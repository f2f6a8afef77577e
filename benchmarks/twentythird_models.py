"""Networks of the kinds of ``benchmarks.seventeenth_models`` in other sizes, for ``benchmarks.cortexm_layers``: its
twenty-third set. No layer of them had been counted before they were listed here."""

from __future__ import annotations

from benchmarks.seventeenth_models import drawn
from benchmarks.small_models import in_both

#: Of the listed networks.
SEED = 2301

INTEGER, FLOAT = in_both(drawn("unseen", SEED))
