"""Hooks of mkdocs.yml: pages that lie outside of docs/, and links to files that are no pages."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(?<!!)\[(?P<text>[^]]+)\]\((?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    for name, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    outside = page.file.src_uri in PAGES.values()
    return LINK.sub(lambda link: _link(link, ROOT if outside else ROOT / "docs"), markdown)


def _link(link: re.Match[str], folder: Path) -> str:
    """A link among the pages; else the text alone, with the file's path where the text does not have it."""
    target = (folder / link["path"]).resolve()
    path = str(target.relative_to(ROOT))
    if not target.exists():
        return link[0]  # mkdocs reports it
    if path in PAGES or target.parent == ROOT / "docs":
        name = PAGES.get(path, target.name)
        return f"[{link['text']}]({name}{link['anchor'] or ''})"
    return f"{link['text']} (`{path}`)" if path not in link["text"] else link["text"]
