"""Loops whose arrays exchange their names: ``old, new = new, old`` at the end of a round, in which one is written into.

After two rounds, or as many as there are arrays, each has its name again. So many rounds are one of the graph's loop,
and every array stays in its own storage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numhlo.tracer.autograph.lent_storage import LentStorage
from numhlo.tracer.autograph.variables import Variables
from numhlo.tracer.bind import new_trace


def exchanged_names(variables: Variables, round: Callable[..., Any]) -> tuple[frozenset[str], int]:
    """Return the variables whose arrays a round exchanges, and after how many rounds they have their names again.

    Parameters
    ----------
    variables : Variables
    round : callable
        Takes the variables' values, and returns them as they are after a round; traced, and forgotten.
    """
    carried = variables.split()
    storage = LentStorage(carried)
    with new_trace(closed=False), storage.lent():
        given = variables.filled(storage.own(carried))
        after = round(given)
    held = [(n, x) for n, x in zip(variables.names, given, strict=True) if storage.holds(x)]
    before = {id(x): n for n, x in sorted(held, key=lambda pair: pair[0] in variables.mixed)}  # of two, the one written
    sources = {n: before[id(x)] for n, x in zip(variables.names, after, strict=True) if id(x) in before}
    cycles = [cycle for name in sources if len(cycle := _cycle(name, sources)) > 1]
    return frozenset(name for cycle in cycles for name in cycle), math.lcm(*map(len, cycles))


def _cycle(name: str, sources: dict[str, str]) -> list[str]:
    """Return the names that an array has one after the other until it has the first again; none if it never has."""
    found = [name]
    while (following := sources.get(found[-1])) != name:
        if following is None or following in found:
            return []
        found.append(following)
    return found
