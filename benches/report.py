"""Writing measured blocks into pages of the docs, and charts beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches.corpus import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"
PAGE = DOCS / "benchmarks.md"
README = ROOT / "README.md"


def write_block(name: str, lines: list[str], path: Path = PAGE) -> None:
    """Put `lines` in place of what stands between the markers of block `name` of a page."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    page = path.read_text(encoding="utf-8")
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{path.name} has no block {name}")
    path.write_text("\n".join([f"{before}{begin}", "", *lines, "", f"{end}{after}"]), encoding="utf-8")


def write_chart(name: str, svg: str) -> None:
    """Write a chart into the folder of the docs."""
    (DOCS / name).write_text(svg, encoding="utf-8")
