"""Results as text and as a picture. Knows how figures are shown, and nothing of how they were measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from benchmarks.program import LIBRARIES

OTHERS = LIBRARIES[1:]
STARTING = LIBRARIES[:3]
"""Libraries that compile; NumPy starts at once."""

TITLES = {"numba_serial": "serial"}
COLOURS = dict(zip(OTHERS, ("#d97706", "#16a34a", "#86efac", "#64748b"), strict=True))


def seconds(value: float | None) -> str:
    """Return a time with three digits and a unit.

    Examples
    --------
    >>> seconds(0.0001234), seconds(12.5), seconds(None)
    ('123 µs', '12.5 s', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if value * factor >= 0.9995:
            return f"{value * factor:#.3g}".rstrip(".") + f" {unit}"
    return f"{value * 1e9:.0f} ns"


def times(value: float | None) -> str:
    """Return a ratio.

    Examples
    --------
    >>> times(2.345), times(0.5), times(123.4), times(None)
    ('2.35x', '0.50x', '123x', '-')
    """
    return "-" if value is None else f"{value:.2f}x" if value < 10.0 else f"{value:.0f}x"


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return text in columns, the first one to the left, all others to the right."""
    lines = [header, *rows]
    first = max(len(line[0]) for line in lines)
    lines = [[line[0].ljust(first), *line[1:]] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = ["  ".join(map(str.rjust, line, widths)) for line in lines]
    return "\n".join([shown[0], "-" * len(shown[0]), *shown[1:]])


def steady_table(results: Mapping[str, Any]) -> str:
    """Return the table of steady state: times, and how many times longer than numhlo the others take."""
    titles = [TITLES.get(library, library) for library in LIBRARIES]
    header = ["steady state", *titles, *(f"{title}/numhlo" for title in titles[1:]), "noise"]
    rows = []
    for name, sizes in results["steady"].items():
        for size, found in sizes.items():
            timed, failed = found["steady"], found["failures"]
            cells = [seconds(timed[x]["median"]) if x in timed else _short(failed.get(x)) for x in LIBRARIES]
            ratios = [times(found["ratios"].get(x)) for x in OTHERS]
            noise = max((t["spread"] for t in timed.values()), default=math.nan)
            rows.append([f"{name} {size}", *cells, *ratios, f"{noise:.0%}"])
    return grid(header, rows)


def _short(failure: str | None) -> str:
    """Return the first word of a failure."""
    return "-" if failure is None else failure.split(":", 1)[0]


def megabytes(value: float | None) -> str:
    """Return an amount of memory."""
    return "-" if value is None or math.isnan(value) else f"{value:.0f}"


STARTING_COLUMNS: tuple[tuple[str, str, str, Callable[[float | None], str]], ...] = (
    ("first", "numhlo", "first", seconds),
    ("jax", "jax", "first", seconds),
    ("numba", "numba", "first", seconds),
    ("cold", "numhlo", "cold", seconds),
    ("warm", "numhlo warm", "cold", seconds),
    ("new shape", "numhlo", "new_shape", seconds),
    ("jax", "jax", "new_shape", seconds),
    ("numba", "numba", "new_shape", seconds),
    ("MB", "numhlo", "memory", megabytes),
    ("jax", "jax", "memory", megabytes),
    ("numba", "numba", "memory", megabytes),
)
"""Title, library, field and form of each column; the titles of other libraries repeat what stands to their left."""


def startup_table(results: Mapping[str, Any]) -> str:
    """Return the table of starts: each figure for numhlo, then for the others that compile."""
    rows = [
        [name, *(_cell(found.get(library, {}), field, show) for _, library, field, show in STARTING_COLUMNS)]
        for name, found in results["startup"].items()
    ]
    return grid(["start", *(title for title, *_ in STARTING_COLUMNS)], rows)


def _cell(found: Mapping[str, Any], field: str, show: Callable[[float | None], str]) -> str:
    return _short(found["failure"]) if "failure" in found else show(found.get(field))


def failures(results: Mapping[str, Any]) -> list[str]:
    """Return a line for everything that was wrong, crashed or hung."""
    lines = [
        f"{name} {size}: {library}: {trouble}"
        for name, sizes in results["steady"].items()
        for size, found in sizes.items()
        for library, trouble in found["failures"].items()
    ]
    lines += [
        f"{name} start: {library}: {found['failure']}"
        for name, starts in results["startup"].items()
        for library, found in starts.items()
        if "failure" in found
    ]
    return lines


def text(results: Mapping[str, Any]) -> str:
    """Return the whole report."""
    imports = "  ".join(f"{name} {seconds(value)}" for name, value in results["imports"].items())
    parts = [
        steady_table(results) if results["steady"] else "",
        startup_table(results) if results["startup"] else "",
        f"import: {imports}" if imports else "",
        "\n".join(f"{name}: {note}" for name, note in results["notes"].items()),
        "\n".join(failures(results)),
    ]
    return "\n\n".join(filter(None, parts))


def plot(results: Mapping[str, Any], path: Path) -> None:
    """Draw how many times longer than numhlo the others take, a bar for each, on a logarithmic scale."""
    steady = results["steady"].items()
    pairs = [(f"{name} {size}", found["ratios"]) for name, sizes in steady for size, found in sizes.items()]
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.42 * len(pairs)), layout="constrained")
    height = 0.8 / len(OTHERS)
    for number, library in enumerate(OTHERS):
        places = [k + (number - (len(OTHERS) - 1) / 2) * height for k in range(len(pairs))]
        lengths = [ratios.get(library, 1.0) - 1.0 for _, ratios in pairs]
        axes.barh(places, lengths, height, 1.0, label=TITLES.get(library, library), color=COLOURS[library])
    axes.set_yticks(range(len(pairs)), [label for label, _ in pairs])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xlabel("time relative to numhlo's: to the right of the line numhlo is faster")
    axes.legend()
    figure.savefig(path)
    plt.close(figure)
