"""What the answers of two libraries say of those who wait for them: ratios over time, as a table and as a picture.

Time 0 is when a program is first asked for. At a time when XLA has given so many answers, the ratio is how much later
it gave the last of them than numhlo gave the answer of that number: above 1, numhlo's user has been served sooner.
Knows nothing of how answers were watched.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.cold_programs import STEADY_SECONDS
from benchmarks.report import grid, seconds, times

CHECKPOINTS = (0.5, 1.0, 2.0, 5.0)
FIRST, STEADY = "first", "steady"
CURVE_TIMES = tuple(0.05 * 100.0 ** (k / 40) for k in range(41))


class Answers:
    """When one library gave its answers.

    Parameters
    ----------
    noted : sequence of (int, float)
        Numbers of answers, from 1 on, and the seconds from time 0 after which they were there.
    """

    def __init__(self, noted: Sequence[Sequence[float]]) -> None:
        self.numbers, self.times = np.array(noted, np.float64).T
        self.first = float(self.times[0])
        self.end = float(self.times[-1])
        begin = max(0, min(int(np.searchsorted(self.times, self.end - STEADY_SECONDS)), len(self.times) - 2))
        count = float(self.numbers[-1] - self.numbers[begin])
        self.each = (self.end - float(self.times[begin])) / count if count else self.end
        """Seconds an answer takes in the end."""

    def count(self, time: float) -> int:
        """Return how many answers had been given by a time."""
        return int(np.interp(time, self.times, self.numbers, left=0.0))

    def time(self, number: int) -> float:
        """Return when an answer was there; behind the last one, when it would have been at a steady rate."""
        if number > self.numbers[-1]:
            return self.end + float(number - self.numbers[-1]) * self.each
        return float(np.interp(number, self.numbers, self.times))


def ratio_at(own: Answers, other: Answers, time: float) -> float | None:
    """Return the ratio at a time, None where the other library has given no answer yet.

    Examples
    --------
    >>> own, other = Answers([(1, 0.1), (2, 0.2), (9, 0.3)]), Answers([(1, 0.2), (3, 0.6)])
    >>> round(ratio_at(own, other, 0.2), 2), round(ratio_at(own, other, 0.4), 2), ratio_at(own, other, 0.1)
    (2.0, 2.0, None)
    """
    number = other.count(time)
    return other.time(number) / own.time(number) if number else None


def ratios_of(own: Answers, other: Answers) -> dict[str, float]:
    """Return the ratios at all checkpoints that the other library has reached with an answer."""
    found = {FIRST: other.first / own.first, STEADY: other.each / own.each}
    for time in CHECKPOINTS:
        ratio = ratio_at(own, other, time)
        if ratio is not None:
            found[f"{time:g} s"] = ratio
    return found


COLUMNS = (FIRST, *(f"{time:g} s" for time in CHECKPOINTS), STEADY)


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one form's programs as a table, with geometric means and least ratios below.

    Parameters
    ----------
    rows : mapping
        By program: ``numhlo`` and ``jax``, their noted answers, ``native``, when the last kernel was machine code, and
        ``trouble``, what is wrong with a result.
    """
    header = ["answers", "numhlo", "native", "XLA", "native/XLA", *COLUMNS, "differs"]
    lines, ratios, waits = [], {column: {} for column in COLUMNS}, {}  # type: ignore[var-annotated]
    for name, row in rows.items():
        own, other = Answers(row["numhlo"]), Answers(row["jax"])
        found = ratios_of(own, other)
        for column, ratio in found.items():
            ratios[column][name] = ratio
        waits[name] = row["native"] / other.first
        cells = [seconds(own.first), seconds(row["native"]), seconds(other.first), times(waits[name])]
        lines.append([name, *cells, *(times(found.get(column)) for column in COLUMNS), row["trouble"]])
    means = [times(statistics.geometric_mean(ratios[c].values())) if ratios[c] else "-" for c in COLUMNS]
    least = [min(ratios[c], key=lambda name: ratios[c][name], default="") for c in COLUMNS]
    worst = [times(ratios[c].get(name)) for c, name in zip(COLUMNS, least, strict=True)]
    lines.append(["geometric mean", "", "", "", times(statistics.geometric_mean(waits.values())), *means, ""])
    lines.append(["median", "", "", "", times(statistics.median(waits.values())), *[""] * len(COLUMNS), ""])
    lines.append(["worst", "", "", "", times(max(waits.values())), *worst, ""])
    named = ", ".join(f"{c}: {name}" for c, name in zip(COLUMNS, least, strict=True) if name)
    return f"{grid(header, lines)}\nworst: {named}"


def curve(rows: Mapping[str, Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Return the geometric mean of ratios over time, from when XLA has answered in half of the programs."""
    pairs = [(Answers(row["numhlo"]), Answers(row["jax"])) for row in rows.values()]
    points = []
    for time in CURVE_TIMES:
        found = [ratio for own, other in pairs if (ratio := ratio_at(own, other, time)) is not None]
        if 2 * len(found) >= len(pairs):
            points.append((time, statistics.geometric_mean(found)))
    return points


WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 60, 20, 150, 50
COLOURS = ("#2563eb", "#d97706", "#16a34a", "#64748b", "#db2777", "#7c3aed")
TIME_TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
RATIO_TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


def picture(curves: Mapping[str, Sequence[tuple[float, float]]], caption: str) -> str:
    """Return curves as an SVG, both axes logarithmic, with a line where both libraries serve equally soon."""
    ratios = [ratio for points in curves.values() for _, ratio in points] + [0.5, 2.0]
    low, high = math.log(min(ratios) / 1.1), math.log(max(ratios) * 1.1)
    begin, end = math.log(CURVE_TIMES[0]), math.log(CURVE_TIMES[-1])

    def place(time: float, ratio: float) -> tuple[float, float]:
        x = LEFT + (math.log(time) - begin) / (end - begin) * (WIDTH - LEFT - RIGHT)
        y = TOP + (high - math.log(ratio)) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for tick in TIME_TICKS:
        x, _ = place(tick, 1.0)
        parts.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{x}" y="{bottom + 15}" text-anchor="middle">{tick:g}</text>')
    for tick in RATIO_TICKS:
        if low <= math.log(tick) <= high:
            _, y = place(1.0, tick)
            colour, width = ("black", 1.5) if tick == 1.0 else ("#e5e7eb", 1)
            parts.append(f'<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="{colour}" stroke-width="{width}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{tick:g}</text>')
    for colour, (name, points) in zip(COLOURS, curves.items(), strict=False):
        if points:
            places = [place(time, ratio) for time, ratio in points]
            line = " ".join(f"{x},{y}" for x, y in places)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            x, y = places[-1]
            parts.append(f'<text x="{x + 6}" y="{y + 4}" fill="{colour}">{name}</text>')
    middle = (LEFT + right) / 2
    parts.append(f'<text x="{middle}" y="{bottom + 30}" text-anchor="middle">seconds since the first call</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}">time of the k-th answer, XLA / numhlo</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}" fill="#64748b">{caption}</text>')
    return "\n".join([*parts, "</svg>\n"])
