"""Writes docs/benchmarks.md with its charts, and the headline of the README, from the results of a run."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import charts
from clients import BASELINE, CANDIDATE, PYTHON, ROOT
from results import Results, Row, Spread, Table

LINE = 120
BEGIN, END = "<!-- benchmarks: bench/report.py writes these lines -->", "<!-- end of benchmarks -->"

INTRODUCTION = """\
# Benchmarks

`make bench` has written this page: it is the result of one run, as it is. `bench/README.md` describes the programs and
how to repeat the run.

All programs do the same work: they fetch the same URLs from nginx on the same machine, with as many requests at a time,
TLS certificates verified, and no caches unless the workload says so. Pictures become RGBA with 8 bits a channel, on two
decode threads. Before the times are measured, each program's bytes or pixels are compared with the baseline's by
checksums; a program whose checksums are others is not measured.

The *baseline* is a program in C, written for this purpose over the libraries that libsdd uses: libcurl's multi
interface on one thread, libjpeg-turbo and libpng on two. It has no queue, limits, retries or callbacks. A ratio is that
of two runs directly behind one another, one of the program and one of the baseline, and the tables show medians of
these ratios, with the quartiles in brackets: half of the ratios are between them. *CPU* is the processor time of the
whole process and its children, and says more than the wall time, which other processes disturb. Python's peers also
need 0.2 to 0.5 seconds to start; *work* is the wall time without that, by the program's own clock. nginx runs on the
same processors, and its time counts for nobody.
"""

PEERS = """\
## Against other clients

Multiples of the baseline, as above. The peers are what their users would write with care: reused connections and
handles, two decode threads. None of them has a disk cache, or previews while a picture arrives; simplejpeg decodes no
PNG and reduces to a few sizes only; aiohttp has no HTTP/2; Debian's decoder for Rust makes other pixels than libjpeg,
so that reqwest only fetches bytes. curl writes bodies to `/dev/null`. "Discarding" means that bodies are received, but
not kept.
"""

FROM_PYTHON = """\
## From Python

*libsdd from Python* is the package in `bindings/python`: one task of asyncio takes the items of a batch as they are
completed. *Work* and *CPU* are multiples of the baseline's, as above. The last two columns compare processor time with
that of aiohttp in the same workload, with simplejpeg on two threads where pictures are decoded. The goals are at most
1.3 in work, and half of aiohttp's processor time; where decoding takes more than that, the baseline is above it, too.
"""


def number(spread: Spread) -> str:
    return f"{spread.median:.2f} ({spread.lower:.2f}–{spread.upper:.2f})"


def seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def in_flight_of(table: Table) -> str:
    return f"{table.workload.name}, {table.in_flight}"


# ---- the parts of the page


def note(results: Results) -> list[str]:
    """What the person who started the run wanted readers to know."""
    return [f"**Note:** {results.facts['note']}", ""] if results.facts["note"] else []


def summary(results: Results) -> list[str]:
    rows = []
    for table in results.tables:
        own, baseline = table.row(CANDIDATE), table.row(BASELINE)
        if own and baseline:
            rows.append([in_flight_of(table), table.workload.text, number(own.cpu_ratio), number(own.wall_ratio),
                         f"{own.peak_mb:.0f} / {baseline.peak_mb:.0f}"])
    header = ["workload, in flight", "work", "CPU", "wall", "peak MB: libsdd / baseline"]
    return ["## libsdd and the baseline", "", "Multiples of the baseline; less is better.", "",
            *table_lines(header, rows), "", "![libsdd and the baseline](benchmarks/baseline.svg)", "",
            *first_frame(results)]


def first_frame(results: Results) -> list[str]:
    table = results.table("W10", 1)
    own, baseline = (table.row(CANDIDATE), table.row(BASELINE)) if table else (None, None)
    if not own or not baseline or own.first_frame_ms is None or baseline.first_frame_ms is None:
        return []
    words = (f"In W10 libsdd has the first preview after {own.first_frame_ms:.0f} ms, the baseline after "
             f"{baseline.first_frame_ms:.0f} ms. Both make a preview of each scan, at most one in 100 ms.")
    return [textwrap.fill(words, LINE), ""]


def from_python(results: Results) -> list[str]:
    rows = []
    for table in results.tables:
        own, candidate = table.row(PYTHON), table.row(CANDIDATE)
        if not own or not candidate or not own.work_ratio or not candidate.work_ratio:
            continue
        peer = table.row("aiohttp + simplejpeg" if table.workload.decodes else "aiohttp")
        share = f"{own.cpu_ratio.median / peer.cpu_ratio.median:.2f}" if peer else ""
        least = f"{1 / peer.cpu_ratio.median:.2f}" if peer else ""
        rows.append([in_flight_of(table), number(own.work_ratio), f"{candidate.work_ratio.median:.2f}",
                     number(own.cpu_ratio), f"{candidate.cpu_ratio.median:.2f}", share, least])
    header = ["workload, in flight", "work", "work of libsdd in C", "CPU", "CPU of libsdd in C", "CPU / aiohttp's",
              "the baseline's CPU / aiohttp's"]
    return [FROM_PYTHON, *table_lines(header, rows), ""] if rows else []


def peer_tables(results: Results) -> list[str]:
    lines = [PEERS]
    for name, title in chart_titles(results):
        lines += [f"![{title}](benchmarks/{name}.svg)", ""]
    for table in results.tables:
        if len(table.rows) > 2:
            lines += [f"### {in_flight_of(table)} in flight: {table.workload.text}", "", amount(table), "",
                      *table_lines(["program", "CPU", "wall", "CPU s", "wall s", "work s", "peak MB", "runs"],
                                   [peer_row(row) for row in table.rows]), "", *differences(table)]
    return lines


def amount(table: Table) -> str:
    pixels = f", {table.amount['pixels'] / 1e6:.1f} megapixels" if table.amount["pixels"] else ""
    urls = f"{table.amount['ok']:,} URLs" if table.amount["ok"] > 1 else "1 URL"
    return f"{urls}, {table.amount['bytes'] / 1e6:.1f} MB{pixels}."


def peer_row(row: Row) -> list[str]:
    is_baseline = row.client == BASELINE
    return [row.client, "1" if is_baseline else number(row.cpu_ratio), "1" if is_baseline else number(row.wall_ratio),
            seconds(row.cpu_s), seconds(row.wall_s), seconds(row.work_s), f"{row.peak_mb:.0f}", str(row.runs)]


def differences(table: Table) -> list[str]:
    """Says which programs make slightly other pixels, where the workload allows that."""
    others = [f"{row.client} {row.difference:.2f}" for row in table.rows if row.difference]
    if not others:
        return []
    words = ("Programs reduce pictures with different arithmetic. Mean difference to the baseline's pixels, in the "
             f"picture that differs most and in levels of 255: {', '.join(others)}. libsdd's are equal.")
    return [textwrap.fill(words, LINE), ""]


def environment(results: Results) -> list[str]:
    facts = results.facts
    lines = ["## Machine, versions, commands", ""]
    named = facts["machine"] | facts["versions"]
    lines += table_lines(["what", "which"], [[name, value] for name, value in named.items()])
    lines += ["", "This command has made the run:", "", "```sh", facts["command"], "```", ""]
    words = (f"The number of rounds is {facts['rounds']}, and three times that in workloads that take less than half a "
             f"second. The checksum of the corpus is `{facts['corpus']}`, the beginning of the SHA-256 of its lists.")
    lines += [textwrap.fill(words, LINE), ""]
    if results.failures:
        lines += ["Left out because they failed:", "", *(f"- {reason}" for reason in results.failures), ""]
    return lines


# ---- charts


def chart_titles(results: Results) -> list[tuple[str, str]]:
    titles = [("bytes", "Processor time to fetch bytes, as multiples of the baseline in C"),
              ("pictures", "Processor time to fetch and decode pictures, as multiples of the baseline in C")]
    return [(name, title) for name, title in titles if chart_tables(results, name)]


def chart_tables(results: Results, name: str) -> list[Table]:
    """Chooses the tables with peers, and of each workload the one with most requests in flight."""
    tables = [table for table in results.tables if len(table.rows) > 2
              and table.workload.decodes == (name == "pictures")]
    return [table for table in tables if table.in_flight == max(table.workload.in_flight)]


def write_charts(results: Results, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "baseline.svg").write_text(charts.against_baseline(results.tables))
    for name, title in chart_titles(results):
        (folder / f"{name}.svg").write_text(charts.against_peers(chart_tables(results, name), title))


# ---- files


def other_parts(page: Path) -> str:
    """The parts of the page that bench/formats.py and bench/distributed.py have written."""
    parts = [page.parent / page.stem / name for name in ("formats.md", "distributed.md")]
    return "".join("\n" + part.read_text() for part in parts if part.exists())


def write_page(results: Results, page: Path) -> None:
    lines = [INTRODUCTION, *note(results), *summary(results), *from_python(results), *peer_tables(results),
             *environment(results)]
    page.write_text("\n".join(lines).rstrip() + "\n" + other_parts(page))
    write_charts(results, page.parent / page.stem)


HEADLINE = (("W1x", 64), ("W2", 64), ("W3", 64), ("W4", 6), ("W5", 64), ("W6", 1), ("W8", 64), ("W9", 6))
HEADLINE_PEERS = ("pycurl", "pycurl + simplejpeg", "aiohttp", "aiohttp + Pillow")


def headline_rows(results: Results) -> list[tuple[str, float, float, list[tuple[str, float]]]]:
    """Returns words, CPU and wall time of libsdd, and the CPU of others, for each workload of the headline."""
    rows = []
    for workload, in_flight in HEADLINE:
        table = results.table(workload, in_flight)
        if not table or not (own := table.row(CANDIDATE)):
            continue
        peers = [(row.client, row.cpu_ratio.median) for row in table.rows if row.client in HEADLINE_PEERS]
        rows.append((table.workload.text, own.cpu_ratio.median, own.wall_ratio.median, peers))
    return rows


def measured(results: Results) -> str:
    machine = results.facts["machine"]
    return (f"Measured on {machine['date']} on {machine['processors']}, with nginx on the same machine, as multiples "
            "of a program in C that was written by hand over the same libraries (1; less is better).")


def chart_line(rows: list[tuple[str, float, float, list[tuple[str, float]]]], target: str) -> str:
    """Returns the picture of the headline; its text has the figures."""
    figures = "; ".join(f"{words}: libsdd {cpu:.2f}" + "".join(f", {client} {ratio:.1f}" for client, ratio in peers)
                        for words, cpu, _, peers in rows)
    return f"![Processor time as multiples of a program in C. {figures}.]({target})"


def write_headline_page(results: Results, folder: Path) -> None:
    """Writes the chart, and the table that the home page of the site shows below it."""
    rows = headline_rows(results)
    bars = [(words, [("libsdd", cpu), *peers]) for words, cpu, _, peers in rows]
    (folder / "headline.svg").write_text(charts.headline(bars))
    cells = [[words, f"{cpu:.2f}", f"{wall:.2f}", ", ".join(f"{client} {ratio:.1f}" for client, ratio in peers)]
             for words, cpu, wall, peers in rows]
    lines = [chart_line(rows, "headline.svg"), "", *note(results), textwrap.fill(measured(results), LINE), "",
             *table_lines(["work", "CPU of libsdd", "wall time of libsdd", "CPU of others"], cells)]
    (folder / "headline.md").write_text("\n".join(lines) + "\n")


def headline(results: Results) -> list[str]:
    """Returns the lines for the README."""
    words = f"{measured(results)} [docs/benchmarks.md](docs/benchmarks.md) has all workloads and commands."
    return [BEGIN, "", *note(results), chart_line(headline_rows(results), "docs/benchmarks/headline.svg"), "",
            textwrap.fill(words, LINE), "", END]


def write_headline(results: Results, readme: Path) -> None:
    """Replaces the lines between the two marks."""
    text = readme.read_text()
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"report.py: {readme.name} has no place for the headline: {BEGIN}")
    readme.write_text(pattern.sub(lambda _: "\n".join(headline(results)), text))


def publish(results: Results) -> None:
    """Writes the page, the charts and the headline of the repository."""
    write_page(results, ROOT / "docs" / "benchmarks.md")
    write_headline_page(results, ROOT / "docs" / "benchmarks")
    write_headline(results, ROOT / "README.md")
