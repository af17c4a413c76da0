"""Draws the charts of the report as SVG."""

from __future__ import annotations

import dataclasses
import textwrap
from html import escape

from clients import CANDIDATE
from results import Row, Spread, Table

WIDTH, LABELS, VALUES, ROW, MARGIN = 860, 250, 60, 20, 12
FONT = "font-family='sans-serif' font-size='13'"
CPU_COLOUR, WALL_COLOUR, CANDIDATE_COLOUR, PEER_COLOUR, GRID = "#0b62a4", "#d9822b", "#0b62a4", "#9aa5b1", "#d5dae0"


def text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal") -> str:
    return (f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-weight='{weight}' {FONT} fill='#222'>"
            f"{escape(words)}</text>")


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return (f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' "
            f"stroke-width='{width}'/>")


def picture(height: float, title: str, shapes: list[str]) -> str:
    """Returns a drawing on white, which is legible on any page."""
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height:.0f}' "
            f"viewBox='0 0 {WIDTH} {height:.0f}' role='img'><title>{escape(title)}</title>"
            f"<rect width='100%' height='100%' fill='#fff'/>\n" + "\n".join(shapes) + "\n</svg>\n")


@dataclasses.dataclass(frozen=True)
class Scale:
    """Ratios from 0 to `most` on a horizontal axis."""

    most: float

    def x(self, ratio: float) -> float:
        return LABELS + (WIDTH - LABELS - VALUES) * min(ratio, self.most) / self.most

    def grid(self, top: float, bottom: float) -> list[str]:
        step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50) if self.most / step <= 9)
        shapes = []
        for number in range(int(self.most / step) + 1):
            x = self.x(number * step)
            shapes += [line(x, top, x, bottom, GRID), text(x, top - 5, f"{number * step:g}", "middle")]
        return shapes + [line(self.x(1), top, self.x(1), bottom, "#444", 1.5)]


def name_of(table: Table) -> str:
    return f"{table.workload.name}, {table.in_flight} in flight"


def against_baseline(tables: tuple[Table, ...]) -> str:
    """Draws the candidate's ratios to the baseline in all workloads: medians as dots, spreads as lines."""
    rows = [(table, row) for table in tables if (row := table.row(CANDIDATE))]
    highest = max(max(row.cpu_ratio.upper, row.wall_ratio.upper) for _, row in rows)
    scale = Scale(min(highest, 3) * 1.02)
    top = 58 + MARGIN
    bottom = top + len(rows) * ROW * 1.6
    title = "libsdd: multiples of the baseline in C (1); dots are medians, lines reach from quartile to quartile"
    shapes = [text(MARGIN, 20, title), legend(34), *scale.grid(top, bottom)]
    for index, (table, row) in enumerate(rows):
        y = top + (index + 0.5) * ROW * 1.6
        shapes.append(text(LABELS - MARGIN, y + 5, name_of(table), "end"))
        shapes += spread(scale, row.cpu_ratio, y - 5, CPU_COLOUR) + spread(scale, row.wall_ratio, y + 6, WALL_COLOUR)
    return picture(bottom + MARGIN, title, shapes)


def legend(y: float) -> str:
    shapes = []
    for index, (words, colour) in enumerate((("processor time", CPU_COLOUR), ("wall time", WALL_COLOUR))):
        x = MARGIN + index * 140
        shapes += [f"<circle cx='{x + 6}' cy='{y}' r='5' fill='{colour}'/>", text(x + 17, y + 5, words)]
    return "\n".join(shapes)


def spread(scale: Scale, ratio: Spread, y: float, colour: str) -> list[str]:
    return [line(scale.x(ratio.lower), y, scale.x(ratio.upper), y, colour, 2),
            f"<circle cx='{scale.x(ratio.median):.1f}' cy='{y:.1f}' r='4.5' fill='{colour}'/>"]


def against_peers(tables: list[Table], title: str) -> str:
    """Draws the processor time of all programs in some workloads, as multiples of the baseline's."""
    highest = max(row.cpu_ratio.median for table in tables for row in table.rows)
    scale = Scale(highest * 1.02)
    top = 46 + MARGIN
    shapes: list[str] = []
    y: float = top
    for table in tables:
        shapes.append(text(MARGIN, y + 15, f"{name_of(table)}: {table.workload.text}", weight="bold"))
        y += ROW + 2
        for row in table.rows[1:]:
            shapes += bar(scale, row, y)
            y += ROW
        y += ROW / 2
    return picture(y + MARGIN, title, [text(MARGIN, 20, title), *scale.grid(top, y), *shapes])


def bar(scale: Scale, row: Row, y: float) -> list[str]:
    colour = CANDIDATE_COLOUR if row.client.startswith(CANDIDATE) else PEER_COLOUR
    end = scale.x(row.cpu_ratio.median)
    return [text(LABELS - MARGIN, y + 14, row.client, "end"),
            f"<rect x='{LABELS}' y='{y + 3:.1f}' width='{end - LABELS:.1f}' height='{ROW - 6}' fill='{colour}'/>",
            text(end + 5, y + 14, f"{row.cpu_ratio.median:.2f}")]


# ---- the headline, which stands on white and on black pages: no background, and colours that are legible on both

INK, OWN_INK, PEER_INK = "#737b84", "#2f86d0", "#9a8157"
HEAD_LABELS, HEAD_WIDTH, HEAD_BAR = 300, 760, 15


def headline(groups: list[tuple[str, list[tuple[str, float]]]]) -> str:
    """Draws the processor time of libsdd and of others in some workloads, as multiples of the baseline's: for each
    workload its words, and the programs with their ratios, libsdd first."""
    highest = max(ratio for _, bars in groups for _, ratio in bars)
    unit = (HEAD_WIDTH - HEAD_LABELS - 150) / highest
    top = 30
    y: float = top + 8
    shapes = []
    for words, bars in groups:
        lines = textwrap.wrap(words, 42)
        shapes += [head_text(0, y + 12 + 16 * index, part, "start", INK) for index, part in enumerate(lines)]
        for index, (client, ratio) in enumerate(bars):
            ink = PEER_INK if index else OWN_INK
            below = y + index * HEAD_BAR
            shapes.append(f"<rect x='{HEAD_LABELS}' y='{below + 2:.0f}' width='{ratio * unit:.1f}' "
                          f"height='{HEAD_BAR - 4}' rx='2' fill='{ink}'/>")
            shapes.append(head_text(HEAD_LABELS + ratio * unit + 6, below + 12,
                                    f"{ratio:.{1 if index else 2}f} {client}", "start",
                                    OWN_INK if index == 0 else INK, "normal" if index else "bold"))
        y += max(len(bars) * HEAD_BAR, len(lines) * 16) + 10
    x = HEAD_LABELS + unit
    title = "Processor time, as multiples of a program in C by hand over the same libraries (1); less is better"
    shapes = [head_text(0, 14, title, "start", INK, "bold"),
              f"<line x1='{x:.1f}' y1='{top}' x2='{x:.1f}' y2='{y:.0f}' stroke='{INK}' stroke-dasharray='3 3'/>",
              *shapes]
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{HEAD_WIDTH}' height='{y:.0f}' "
            f"viewBox='0 0 {HEAD_WIDTH} {y:.0f}' role='img'><title>{escape(title)}</title>\n"
            + "\n".join(shapes) + "\n</svg>\n")


def head_text(x: float, y: float, words: str, anchor: str, ink: str, weight: str = "normal") -> str:
    return (f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-weight='{weight}' font-family='sans-serif' "
            f"font-size='12.5' fill='{ink}'>{escape(words)}</text>")
