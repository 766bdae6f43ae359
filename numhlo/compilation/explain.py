"""`explain`: why each entry of a cache was made, and which of its steps run how."""

from __future__ import annotations

from numhlo.compilation.cache import Cache
from numhlo.compilation.entry import Entry
from numhlo.compilation.page_of_text import Page
from numhlo.compilation.reports import describe_program
from numhlo.lowering.ir.counted import counted


def explain(name: str, cache: Cache) -> str:
    """Return a report of a cache as text.

    Parameters
    ----------
    name : str
        The function's.
    cache : Cache
    """
    info = cache.info()
    entries, misses = counted(info.currsize, "entry", "entries"), counted(info.misses, "miss", "misses")
    lines = [f"{name}: {entries}, {counted(info.hits, 'hit')}, {misses}"]
    for entry in cache.entries():
        lines += ["", *explain_entry(entry)]
    gone = info.misses - info.currsize
    if gone > 0:
        lines += ["", f"{counted(gone, 'older entry is', 'older entries are')} gone"]
    return Page("\n".join(lines))


def explain_entry(entry: Entry) -> list[str]:
    """Return the lines of one entry."""
    lines = [entry.signature, f"  traced because: {entry.cause}", f"  called {counted(entry.calls, 'time')}"]
    if entry.keeps_loops:
        lines.append("  long loops over ranges are loops of the graph, as with autograph=True: unrolled they are long")
    if entry.captures:
        shown = ", ".join(f"{c.dtype.name}[{','.join(map(str, c.shape))}]" for c in entry.captures)
        lines.append(f"  captured arrays, read at every call: {shown}")
    if entry.guards.contents:
        lines.append(f"  compared at every call: {', '.join(c.name for c in entry.guards.contents)}")
    return lines + [f"  {line}" for line in describe_program(entry.program)]
