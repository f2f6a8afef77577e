"""The command with fake distributions on its path."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import forked
from tests.envelope import opened

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site


@dataclass(frozen=True)
class Done:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout: the result with the fields around it."""
        return opened(self.out)


@dataclass(frozen=True)
class Match:
    """Runs ``match`` with only the distributions of the site (and the core) in use."""

    site: Site
    directory: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MATCH_", "NO_COLOR"))}
        return {**kept, "PYTHONPATH": str(self.site.path), **self.site.environment, **more}

    def __call__(self, *arguments: str | Path, **environment: str) -> Done:
        done = forked.match(arguments, cwd=self.directory, env=self.environment(**environment), timeout=120)
        if not environment.get("MATCH_TRACEBACK"):
            assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    path = Path(__file__).parents[1] / "plugin" / "distributions.py"
    spec = importlib.util.spec_from_file_location("match_test_distributions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    folder = tmp_path / "site"
    folder.mkdir()
    made: Site = module.Site(folder)
    yield made
    made.forget()


@pytest.fixture
def match(site: Site, tmp_path: Path) -> Match:
    work = tmp_path / "work"
    work.mkdir()
    return Match(site, work)


MakeModel = Callable[..., Path]


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Writes a model, of floats unless told otherwise: ``operators`` one after the other on a tensor of ``shape``, from
    ``x`` to ``y``."""

    def make(
        name: str = "net.onnx",
        operators: tuple[str, ...] = ("Relu",),
        shape: tuple[int | str, ...] = (1, 256),
        dtype: str = "FLOAT",
    ) -> Path:
        import onnx
        from onnx import TensorProto, helper

        names = ["x", *(f"t{index}" for index in range(len(operators) - 1)), "y"]
        nodes = [
            helper.make_node(operator, [names[index]], [names[index + 1]], name=f"{operator}_{index}")
            for index, operator in enumerate(operators)
        ]
        graph = helper.make_graph(
            nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.DataType.Value(dtype), shape)],
            [helper.make_tensor_value_info("y", TensorProto.DataType.Value(dtype), shape)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path = tmp_path / name
        onnx.save(model, str(path))
        return path

    return make
