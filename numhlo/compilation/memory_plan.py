"""A program's memory as a drawing: one line a buffer, with its size and the steps that it lives through.

Steps are told apart by what they have, as in `reports`, so that looking at a program does not load the backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from numhlo.lowering.ir.records import record

WIDTH = 60
"""Columns of a drawing; where there are more steps, a column stands for several."""


@record(slots=True)
class Life:
    """The first and the last step at which a buffer is needed; from 0 on."""

    first: int
    last: int


@record(frozen=True)
class MemoryPlan:
    """Which buffers a program has, and when each is needed.

    Attributes
    ----------
    names, places : list of str
        Of steps; of buffers: ``argument 0``, ``result 1``, ``constant``, ``arena +64``.
    types : list of TensorType
    lives : list of Life or None
        None for a buffer that no step uses.
    arena_bytes : int
    """

    names: list[str]
    places: list[str]
    types: list[Any]
    lives: list[Life | None]
    arena_bytes: int

    def live_bytes(self) -> list[int]:
        """Return, for each step, how many bytes of buffers it or a later step needs that are there."""
        found = [0] * max(1, len(self.names))
        for type, life in zip(self.types, self.lives, strict=True):
            if life is not None:
                for step in range(life.first, life.last + 1):
                    found[step] += type.nbytes
        return found

    @property
    def peak_bytes(self) -> int:
        """Return the most bytes that are needed at once."""
        return max(self.live_bytes())

    @property
    def total_bytes(self) -> int:
        """Return the bytes of all buffers, as if none shared its memory."""
        return sum(type.nbytes for type in self.types)

    def __str__(self) -> str:
        """Return the drawing."""
        count = max(1, len(self.names))
        scale = -(-count // WIDTH)
        rows = [(_shown(place, type), life) for place, type, life in self._rows()]
        width = max([len(name) for name, _ in rows], default=0)
        lines = [f"{name.ljust(width)}  {_bar(life, count, scale)}" for name, life in rows]
        live = self.live_bytes()
        peak = live.index(max(live))
        each = sum(t.nbytes for t, place in zip(self.types, self.places, strict=True) if place.startswith("arena"))
        if scale > 1:
            lines.append(f"a column stands for {scale} steps")
        lines += [f"step {number}: {name}" for number, name in enumerate(self.names)]
        lines.append(f"peak: {live[peak]:,} bytes, in step {peak}; all buffers: {self.total_bytes:,} bytes")
        lines.append(f"arena: {self.arena_bytes:,} bytes for buffers of {each:,} bytes")
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the drawing in a notebook."""
        printer.text(str(self))

    def _rows(self) -> list[tuple[str, Any, Life]]:
        """Return buffers in the order of their lives, first what is there before the call."""
        rows = [(p, t, x) for p, t, x in zip(self.places, self.types, self.lives, strict=True) if x is not None]
        return sorted(rows, key=lambda row: (row[0].startswith(("arena", "result")), row[2].first, row[2].last))


def _shown(place: str, type: Any) -> str:
    return f"{place:<14} {type.short():<18} {type.nbytes:>14,} bytes"


def _bar(life: Life, count: int, scale: int) -> str:
    columns = ["#" if life.first < start + scale and life.last >= start else "." for start in range(0, count, scale)]
    return "".join(columns)


def memory_plan(program: Any) -> MemoryPlan:
    """Return when each buffer of a program (`numhlo.backend.program.Program`) is needed."""
    names: list[str] = []
    lives: list[Life | None] = [None] * len(program.buffers)
    _walk_lives(program.steps, 0, names, lives)
    last = max(0, len(names) - 1)
    fetched = {*program.results, *program.written.values()}
    for number, buffer in enumerate(program.buffers):
        if buffer.place.value in ("argument", "constant"):
            _use([number], 0, lives)
        if buffer.place.value != "arena" or number in fetched:
            _use([number], last, lives)
    places = [_place(buffer) for buffer in program.buffers]
    return MemoryPlan(names, places, [b.type for b in program.buffers], lives, program.arena_bytes)


def _use(numbers: Iterable[int], step: int, lives: list[Life | None]) -> None:
    """Let buffers live at a step."""
    for number in numbers:
        life = lives[number]
        if life is None:
            lives[number] = Life(step, step)
        else:
            life.first, life.last = min(life.first, step), max(life.last, step)


def _walk_lives(steps: Iterable[Any], depth: int, names: list[str], lives: list[Life | None]) -> None:
    """Number steps, those inside others too, and let what they use live."""
    for step in steps:
        here = len(names)
        names.append("  " * depth + _name(step))
        _use(_buffers_of(step), here, lives)
        before = [life is not None and life.first < here for life in lives]
        for inner in _inner(step):
            _walk_lives(inner, depth + 1, names, lives)
        if hasattr(step, "condition"):
            _extend(step, lives, before, here, len(names) - 1)


def _extend(loop: Any, lives: Sequence[Life | None], before: Sequence[bool], first: int, last: int) -> None:
    """Let what a loop keeps from round to round live through all of it."""
    exchanged = {n for step in _walk(loop.body) for pair in getattr(step, "pairs", ()) for n in pair}
    for number, life in enumerate(lives):
        if life is not None and life.last >= first and (before[number] or number in exchanged):
            life.first, life.last = min(life.first, first), max(life.last, last)


def _walk(steps: Iterable[Any]) -> Iterator[Any]:
    for step in steps:
        yield step
        for inner in _inner(step):
            yield from _walk(inner)


def _inner(step: Any) -> Iterator[Iterable[Any]]:
    yield from (getattr(step, "condition", ()), getattr(step, "body", ()), *getattr(step, "branches", ()))


def _name(step: Any) -> str:
    if hasattr(step, "kernel"):
        return str(step.kernel.name)
    if hasattr(step, "reason"):
        return f"NumPy {step.op.definition.name}"
    return "while" if hasattr(step, "condition") else "branch" if hasattr(step, "branches") else "exchange"


def _buffers_of(step: Any) -> Iterator[int]:
    if hasattr(step, "kernel"):
        yield from step.buffers
    elif hasattr(step, "reason"):
        yield from (number for _, number in (*step.inputs, *step.outputs))
    elif hasattr(step, "condition"):
        yield step.predicate
    elif hasattr(step, "branches"):
        yield step.index
    else:
        yield from (number for pair in step.pairs for number in pair)


def _place(buffer: Any) -> str:
    if buffer.place.value in ("argument", "result"):
        return f"{buffer.place.value} {buffer.index}"
    return f"arena +{buffer.offset}" if buffer.place.value == "arena" else str(buffer.place.value)
