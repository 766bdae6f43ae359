"""How programs look in a notebook: StableHLO beside the user's lines, kernels that unfold, what runs how.

This file knows HTML. It gets graphs and texts and asks nobody for more; objects that a notebook shows call it from
their ``_repr_html_``. Colours are the notebook's own, so that dark themes work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from numhlo.lowering.ir import Module
from numhlo.lowering.text.located_lines import Line, located_lines

MOST_LINES = 1000
"""Lines of a program that are shown; a notebook keeps its outputs in the file."""

STYLE = """
.numhlo { line-height: 1.3 }
.numhlo table { border-collapse: collapse }
.numhlo td { text-align: left; padding: 0 1.5em 0 0; vertical-align: top; white-space: pre; font-family: monospace }
.numhlo td + td { opacity: 0.7 }
.numhlo pre { margin: 0 0 0.5em 1em }
.numhlo summary { cursor: pointer }
"""


def program_html(
    title: str, module: Module, *, kernels: Mapping[str, str] | None = None, state: Sequence[str] = ()
) -> str:
    """Return a program as HTML.

    Parameters
    ----------
    title : str
    module : Module
    kernels : mapping of str to str, optional
        Python source of each kernel by name.
    state : sequence of str, optional
        Lines about how the program runs.
    """
    parts = [f'<div class="numhlo"><style>{STYLE}</style>', f"<p><b>{escape(title)}</b></p>"]
    parts += _table(located_lines(module))
    if state:
        parts.append(f"<pre>{escape(chr(10).join(state))}</pre>")
    if kernels:
        parts += _kernels(kernels)
    parts.append("</div>")
    return "\n".join(parts)


def _table(lines: Sequence[Line]) -> Iterable[str]:
    yield "<table>"
    latest = ""
    for line in lines[:MOST_LINES]:
        place = line.location.describe() if line.location is not None else ""
        shown = "" if place == latest else place
        latest = place or latest
        yield f"<tr><td>{escape(line.text)}</td><td>{escape(shown)}</td></tr>"
    if len(lines) > MOST_LINES:
        yield f"<tr><td>... {len(lines) - MOST_LINES} more lines: as_text() has all</td><td></td></tr>"
    yield "</table>"


def _kernels(kernels: Mapping[str, str]) -> Iterable[str]:
    count = len(kernels)
    yield f"<details><summary>{count} {'kernel' if count == 1 else 'kernels'}</summary>"
    for name, source in kernels.items():
        yield f"<details><summary>{escape(name)}</summary><pre>{escape(source)}</pre></details>"
    yield "</details>"
