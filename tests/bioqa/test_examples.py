"""The examples in the docstrings of the library, run on the bundled sample."""

import doctest
from importlib import import_module

import pytest

import bioqa

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
