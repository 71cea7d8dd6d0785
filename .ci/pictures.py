"""The pictures of README.md, made anew: ``.venv/bin/python .ci/pictures.py``. It needs Chromium.

They show the bundled sample, whose citations are invented.
"""

import os
import re
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from playwright.sync_api import sync_playwright
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import bioqa  # noqa: E402
from bioqa.app.answers.answering import Answerer, SearchOptions  # noqa: E402
from bioqa.app.cli import answering  # noqa: E402
from bioqa.app.main import create_app  # noqa: E402
from bioqa.app.settings import Settings  # noqa: E402
from bioqa.bioasq.domain import Question  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
CHROMIUM = "/usr/bin/chromium"
QUESTION = "Is celiac disease associated with HLA-DQ2?"
# As rich writes it, but for the font that a viewer would fetch from elsewhere.
SVG = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


class Terminal(Console):
    """Wraps lines that a real terminal would wrap by itself."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **(options | {"soft_wrap": False}))


def terminal(index: Path) -> None:
    """``bioqa ask`` on the sample."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Terminal(record=True, width=100, highlight=False, markup=False, file=nowhere)
        console.print(Text(f'$ bioqa ask "{QUESTION}" --max-documents 3 --max-snippets 3\n'))
        with bioqa.open_index(index) as opened:
            answerer = Answerer(opened.back_end, bioqa.load_ranker(threads=1))
            for _ in range(3):  # the first question is slower
                answer = answerer.answer(Question("", QUESTION), SearchOptions(3, 3))
        answering.out = console
        answering.print_answer(answer)
        svg = console.export_svg(title="bioqa ask", code_format=SVG)
    (PICTURES / "terminal.svg").write_text(svg, encoding="utf-8")


def page(index: Path) -> None:
    """An answer in the browser."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(Settings(index=str(index))), port=8765, log_level="warning")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.1)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1040, "height": 720})
        for _ in range(3):  # the first question is slower
            view.goto(f"http://127.0.0.1:8765/?q={QUESTION}")
            view.wait_for_selector("nav.counted")
        view.screenshot(path=PICTURES / "page.png")
        browser.close()
    server.should_exit = True
    thread.join()


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        index = Path(folder, "sample")
        bioqa.build_index([bioqa.sample().medline], index, workers=1)
        terminal(index)
        page(index)


if __name__ == "__main__":
    main()
