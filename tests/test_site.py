"""The documentation as a site: every link is good, and a page loads nothing from elsewhere."""

import subprocess
import sys
from pathlib import Path

import pytest
from lxml import html

pytest.importorskip("material", reason="mkdocs-material is not installed")

ROOT = Path(__file__).resolve().parents[1]


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = [*tmp_path.glob("*.html")]
    assert len(pages) > 20
    for page in pages:
        tree = html.parse(str(page)).getroot()
        loaded = [*tree.xpath("//script/@src | //img/@src | //iframe/@src | //link[@rel!='canonical']/@href")]
        assert loaded
        assert not [address for address in loaded if "//" in address], page.name
