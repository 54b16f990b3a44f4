"""Small charts as SVG text: bars on a logarithmic scale, and a line. Readable on light and dark pages."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape

STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 }
.quiet { fill: #57606a }
.ours { fill: #0a7d4f } .others { fill: #9aa4ae } .rule { stroke: #d0d7de } .line { stroke: #0a7d4f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .quiet { fill: #9da7b3 }
  .ours { fill: #3fb27f } .others { fill: #6e7781 } .rule { stroke: #30363d } .line { stroke: #3fb27f }
}
</style>"""

WIDTH = 820
LABELS = 300
ROW = 26
TOP = 44


def bars(title: str, values: list[tuple[str, float]], ours: frozenset[str]) -> str:
    """Horizontal bars, shortest first, on a logarithmic scale; those named in `ours` stand out."""
    ordered = sorted(values, key=lambda pair: pair[1])
    low = 10 ** math.floor(math.log10(ordered[0][1]))
    high = 10 ** math.ceil(math.log10(ordered[-1][1]))
    span = WIDTH - LABELS - 90
    height = TOP + ROW * len(ordered) + 34

    def at(value: float) -> float:
        return LABELS + span * math.log10(value / low) / math.log10(high / low)

    parts = [text(12, 24, title, "title")]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        x = at(10.0**power)
        parts.append(rule(x, TOP - 6, x, height - 28))
        parts.append(text(x, height - 10, number(10.0**power), "quiet", anchor="middle"))
    for row, (label, value) in enumerate(ordered):
        y = TOP + ROW * row
        kind = "ours" if label in ours else "others"
        parts.append(text(LABELS - 10, y + 15, label, "", anchor="end"))
        parts.append(bar(LABELS, y + 2, at(value) - LABELS, kind))
        parts.append(text(at(value) + 6, y + 15, number(value), "quiet"))
    return document(height, parts)


def line(title: str, values: list[tuple[str, float]]) -> str:
    """Points in equal steps joined by a line, the vertical axis from zero."""
    height = 300
    left, right, bottom = 70, 40, 44
    top_value = max(value for _, value in values) * 1.25
    step = (WIDTH - left - right) / max(1, len(values) - 1)

    def y_at(value: float) -> float:
        return height - bottom - (height - bottom - TOP) * value / top_value

    parts = [text(12, 24, title, "title")]
    for share in (0, 0.5, 1):
        y = y_at(top_value * share)
        parts.append(rule(left, y, WIDTH - right, y))
        parts.append(text(left - 8, y + 4, f"{top_value * share:.2g}", "quiet", anchor="end"))
    points = [(left + step * at, y_at(value)) for at, (_, value) in enumerate(values)]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts.append(f'<polyline class="line" points="{joined}" fill="none" stroke-width="2"/>')
    for (x, y), (label, value) in zip(points, values, strict=True):
        parts.append(f'<circle class="ours" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        parts.append(text(x, y - 10, number(value), "", anchor="middle"))
        parts.append(text(x, height - 16, label, "quiet", anchor="middle"))
    return document(height, parts)


def number(value: float) -> str:
    """Three digits that count, no exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def text(x: float, y: float, content: str, kind: str, *, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def bar(x: float, y: float, width: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width:.1f}" height="18" rx="2"/>'


def rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="rule" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def document(height: float, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">'
    return "\n".join([head, STYLE, *parts, "</svg>", ""])
