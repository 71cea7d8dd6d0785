"""The examples in the library's docstrings and on its pages, run on the bundled sample."""

import doctest
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bioqa

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted({module for module in bioqa._MODULE_OF.values() if module.count(".") == 1})
EXAMPLES = [
    test
    for module in MODULES
    for test in doctest.DocTestFinder().find(import_module(module), globs={"bioqa": bioqa})
    if test.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_it_says(example: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    shown: list[str] = []
    assert runner.run(example, out=shown.append).failed == 0, "".join(shown)


PAGES = ("README.md", "docs/python.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the sample, under the names that the page has for an index and files."""
    Path("medline").symlink_to("sample-index")
    for name in ("testset.json", "golden.json"):
        Path(name).symlink_to(bioqa.sample().questions)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=Frame))
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(block, namespace)


class Frame:
    """What pandas makes of rows: columns of one length."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = list(rows)
        assert len({tuple(row) for row in self.rows}) == 1

    def describe(self) -> None:
        assert self.rows
