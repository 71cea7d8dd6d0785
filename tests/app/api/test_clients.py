"""The examples of docs/clients.md print what stands there: other libraries' clients work with this service.

Their packages are no dependencies. BIOQA_CLIENTS_PYTHON may name a Python that has them, in an environment of
its own; otherwise they are looked for beside this one. A test whose package is missing is skipped.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bioqa.app.answers.engine import open_engine
from bioqa.app.settings import Settings
from tests.app.engines import no_logs
from tests.app.serving import serving

PAGE = Path(__file__).resolve().parents[3] / "docs" / "clients.md"
ADDRESS = "http://127.0.0.1:8000"
PYTHON = os.environ.get("BIOQA_CLIENTS_PYTHON", sys.executable)
TIMEOUT_S = 240
"""Some of these libraries take half a minute to import on a busy machine."""


def examples() -> dict[str, tuple[str, str]]:
    """Each example's code, and what it prints, by the heading and number."""
    found: dict[str, tuple[str, str]] = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        blocks = re.findall(r"```python\n(.*?)```\s+```text\n(.*?)```", section, re.DOTALL)
        assert blocks
        for number, block in enumerate(blocks):
            found[f"{section.splitlines()[0]}-{number}"] = block
    return found


EXAMPLES = examples()


@pytest.fixture(scope="module")
def address(index_folder: Path) -> Iterator[str]:
    """A server with the bundled ranker."""
    with serving(open_engine(Settings(index=str(index_folder), ranking_processes=1), no_logs)) as address:
        yield address


def run(code: str) -> "subprocess.CompletedProcess[str]":
    quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false", "NO_PROXY": "127.0.0.1"}
    environment = {**os.environ, **quiet}
    environment.pop("PYTHONPATH", None)  # this checkout's packages are not the other environment's
    return subprocess.run(
        [PYTHON, "-c", code], capture_output=True, text=True, timeout=TIMEOUT_S, env=environment, check=False
    )


def test_there_is_an_example_of_each() -> None:
    headings = {name.split("-")[0] for name in EXAMPLES}
    assert headings == {"Cohere", "LangChain", "LlamaIndex", "Haystack"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_the_page_says(address: str, name: str) -> None:
    code, printed = EXAMPLES[name]
    assert ADDRESS in code
    done = run(code.replace(ADDRESS, address))
    if lacking := re.search(r"^ModuleNotFoundError: No module named '(\S+)'", done.stderr, re.MULTILINE):
        pytest.skip(f"{lacking[1]} is not installed")
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
