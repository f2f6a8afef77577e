"""C of test harnesses, compiled once per content: between the workers of a run, and between runs."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from match_core.io.cache_dir import write_whole
from match_core.run.object_cache import ObjectCache


def link_cached(output: Path, flags: Sequence[str], sources: Sequence[Path], includes: Sequence[Path]) -> None:
    """Compile and link ``sources`` to ``output`` (an executable, or a library with ``-shared`` among ``flags``);
    whatever the compiler says fails the test."""
    command = ("gcc", *flags)
    places = [f"-I{folder}" for folder in includes]
    cache = ObjectCache(command, includes)
    objects = []
    for number, source in enumerate(sources):
        kept = cache.path(source)
        if not kept.is_file():
            made = output.parent / f"{output.name}_{number}.o"
            _run([*command, *places, "-c", str(source), "-o", str(made)])
            kept = kept if write_whole(kept, made.read_bytes()) else made
        objects.append(str(kept))
    _run([*command, *objects, "-lm", "-o", str(output)])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
