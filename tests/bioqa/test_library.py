"""The names of ``import bioqa``: all there, typed, documented, and imported when they are used."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import bioqa

DOCS = Path(__file__).resolve().parents[2] / "docs" / "python.md"
HEAVY = ("fastapi", "lxml", "nltk", "numpy", "pydantic", "tantivy", "torch", "transformers")


def test_type_checkers_see_the_names_there_are() -> None:
    tree = ast.parse(Path(bioqa.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (name.asname, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.name == name.asname
    }
    assert seen == set(bioqa._MODULE_OF.items())
    assert set(bioqa.__all__) == {"__version__", *bioqa._MODULE_OF}


@pytest.mark.parametrize("name", bioqa.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    value = getattr(bioqa, name)
    assert name in dir(bioqa)
    if inspect.isroutine(value) or inspect.isclass(value):
        assert inspect.getdoc(value)
    assert f"`{name}`" in DOCS.read_text(encoding="utf-8") or f"`{name}(" in DOCS.read_text(encoding="utf-8")


def test_a_function_of_the_library_shows_an_example() -> None:
    functions = [f for name in bioqa.__all__ if inspect.isfunction(f := getattr(bioqa, name))]
    ours = [f for f in functions if f.__module__.count(".") == 1]
    assert len(ours) >= 10
    assert [f.__name__ for f in ours if ">>> " not in (f.__doc__ or "")] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'bioqa' has no attribute 'nothing'"):
        _ = bioqa.nothing  # type: ignore[attr-defined]


def _imported(code: str) -> set[str]:
    """Those of ``HEAVY`` that the code, run by a fresh interpreter, imports."""
    script = f"import sys\n{code}\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    path = str(Path(bioqa.__file__).resolve().parents[1])
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": path},
    )
    return set(run.stdout.split())


def test_the_import_imports_nothing_heavy() -> None:
    assert _imported("import bioqa") == set()


def test_torch_waits_for_a_ranker() -> None:
    code = "import bioqa; bioqa.open_index; bioqa.ask; bioqa.evaluate; bioqa.read_medline"
    assert not _imported(code) & {"torch", "transformers", "fastapi"}
