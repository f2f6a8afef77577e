"""Runs ZigZag's LOMA engine on the problems of a JSON file. It imports nothing of this project, and runs in the
environment that `make bench-zigzag` makes: ``python -I zigzag_worker.py problems.json answers.json``.

A problem has ``layer``, ``accelerator`` and ``mapping`` in ZigZag's own form and ``lpf_limit``. Its answer has
``seconds``, the time of the search without imports, and ``levels``: for each operand the loops (dimension, size) of
each memory level, innermost first; or ``error``.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from zigzag.mapping.temporal_mapping import TemporalMappingType
from zigzag.stages.evaluation.cost_model_evaluation import CostModelStage
from zigzag.stages.main import MainStage
from zigzag.stages.mapping.spatial_mapping_generation import SpatialMappingGeneratorStage
from zigzag.stages.mapping.temporal_mapping_generator_stage import TemporalMappingGeneratorStage
from zigzag.stages.parser.accelerator_parser import AcceleratorParserStage
from zigzag.stages.parser.workload_parser import WorkloadParserStage
from zigzag.stages.results.reduce_stages import MinimalLatencyStage
from zigzag.stages.workload_iterator import WorkloadStage

#: As in zigzag.api, without the stages that write files and plot.
STAGES = [
    WorkloadParserStage,
    AcceleratorParserStage,
    WorkloadStage,
    MinimalLatencyStage,
    SpatialMappingGeneratorStage,
    MinimalLatencyStage,
    TemporalMappingGeneratorStage,
    CostModelStage,
]


def solve(problem: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The mapping with the least latency by ZigZag's own cost model."""
    accelerator, mapping = folder / "accelerator.yaml", folder / "mapping.yaml"
    accelerator.write_text(yaml.safe_dump(problem["accelerator"]))
    mapping.write_text(yaml.safe_dump(problem["mapping"]))
    stages = MainStage(
        STAGES,
        workload=[problem["layer"]],
        accelerator=str(accelerator),
        mapping=str(mapping),
        loma_lpf_limit=problem["lpf_limit"],
        loma_show_progress_bar=False,
        nb_mappings_generated=1,
        enable_mix_spatial_mapping_generation=False,
        access_same_data_considered_as_no_access=True,
        temporal_mapping_type=TemporalMappingType.UNEVEN,
    )
    started = time.perf_counter()
    found = stages.run()
    seconds = time.perf_counter() - started
    levels = found[0][0].temporal_mapping.mapping_dic_origin
    return {
        "seconds": seconds,
        "levels": {
            str(operand): [[[str(dim), int(size)] for dim, size in level] for level in own]
            for operand, own in levels.items()
        },
    }


def main(arguments: list[str]) -> int:
    """Solve one problem after the other."""
    logging.disable(logging.CRITICAL)
    problems = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    answers = []
    with tempfile.TemporaryDirectory(prefix="zigzag-") as folder:
        for problem in problems:
            try:
                answers.append(solve(problem, Path(folder)))
            except Exception as error:  # whatever ZigZag raises, the other problems go on
                answers.append({"error": f"{type(error).__name__}: {error}"})
    Path(arguments[1]).write_text(json.dumps(answers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
