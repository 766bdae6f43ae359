"""How programs look in a notebook: StableHLO under the user's lines, kernels that unfold, what runs how.

This file knows HTML. It gets graphs and texts and asks nobody for more; objects that a notebook shows call it from
their ``_repr_html_``. Colours are the notebook's own, so that dark themes work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from numhlo.lowering.ir import Location, Module, WrittenLocation
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.text.located_lines import Line, located_lines

MOST_LINES = 1000
"""Lines of a program that are shown; a notebook keeps its outputs in the file."""

# `div.numhlo pre` outdoes what notebooks say of all outputs. Texts are read as well where a viewer drops this style.
STYLE = """
div.numhlo { line-height: 1.3 }
div.numhlo pre { margin: 0 0 0.5em 1em; white-space: pre; font-family: monospace }
div.numhlo pre.program { margin-left: 0; overflow: auto; max-height: 50em }
div.numhlo pre.program span { opacity: 0.6 }
div.numhlo summary { cursor: pointer }
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
    parts.append(_program(located_lines(module)))
    if state:
        parts.append(f"<pre>{escape(chr(10).join(state))}</pre>")
    if kernels:
        parts += _kernels(kernels)
    parts.append("</div>")
    return "\n".join(parts)


def _program(lines: Sequence[Line]) -> str:
    """Return the program with the user's lines as headings: comments of StableHLO's, so that all of it is a program."""
    rows: list[str] = []
    latest = ""
    for line in lines[:MOST_LINES]:
        place = _place(line.location)
        if place and place != latest:
            latest = place
            indent = " " * (len(line.text) - len(line.text.lstrip()))
            rows.append(f"{indent}<span>// {escape(place)}</span>")
        rows.append(escape(line.text))
    if len(lines) > MOST_LINES:
        rows.append(f"... {len(lines) - MOST_LINES} more lines: as_text() has all")
    return f'<pre class="program">{chr(10).join(rows)}</pre>'


def _place(location: Location | None) -> str:
    """Return where an op comes from, nothing where that is the text which is shown."""
    if location is None:
        return ""
    is_elsewhere = location.code is not None or (isinstance(location, WrittenLocation) and location.has_place)
    return location.describe() if is_elsewhere else ""


def _kernels(kernels: Mapping[str, str]) -> Iterable[str]:
    yield f"<details><summary>{counted(len(kernels), 'kernel')}</summary>"
    for name, source in kernels.items():
        yield f"<details><summary>{escape(name)}</summary><pre>{escape(source)}</pre></details>"
    yield "</details>"
