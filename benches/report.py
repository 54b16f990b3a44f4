"""Writing measured blocks into docs/benchmarks.md and charts beside it."""

from __future__ import annotations

from benches.corpus import ROOT

DOCS = ROOT / "docs"
PAGE = DOCS / "benchmarks.md"


def write_block(name: str, lines: list[str]) -> None:
    """Put `lines` in place of what stands between the markers of block `name`."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    page = PAGE.read_text(encoding="utf-8")
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{PAGE.name} has no block {name}")
    PAGE.write_text("\n".join([f"{before}{begin}", "", *lines, "", f"{end}{after}"]), encoding="utf-8")


def write_chart(name: str, svg: str) -> None:
    """Write a chart into the folder of the docs."""
    (DOCS / name).write_text(svg, encoding="utf-8")
