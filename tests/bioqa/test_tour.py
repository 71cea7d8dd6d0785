"""The notebook docs/tour.ipynb, its cells run in order in one namespace.

As plain Python: the notebook has no magics, and a kernel would bring thirty packages to say the same.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import bioqa

TOUR = Path(__file__).resolve().parents[2] / "docs" / "tour.ipynb"


def cells() -> list[dict[str, Any]]:
    notebook = json.loads(TOUR.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    return list(notebook["cells"])


def run(source: str, namespace: dict[str, Any]) -> object:
    """Run a cell; the value of its last line, if that is an expression, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(TOUR), "exec"), namespace)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), str(TOUR), "eval"), namespace)


def test_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    namespace: dict[str, Any] = {}
    shown = [run("".join(c["source"]), namespace) for c in cells() if c["cell_type"] == "code"]
    assert [value for value in shown if isinstance(value, bioqa.Answer)]
    assert namespace["measures"].questions == 25


def test_the_tour_is_kept_without_outputs() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in cells()}) == len(cells())
