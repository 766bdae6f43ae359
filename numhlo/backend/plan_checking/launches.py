"""What a launch says that it does, against what its ops need and its kernel touches."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.plan_checking.contents import Places
from numhlo.backend.plan_checking.effects import effects_of
from numhlo.backend.plan_checking.listing import Finding
from numhlo.backend.plan_checking.values import Roots, constant_of, used_by
from numhlo.backend.program import Buffer, Launch, Place
from numhlo.lowering.ir import Op, TensorType, Value


class Touched:
    """The buffers that a launch's kernel reads, and those that it writes, by number."""

    __slots__ = ("reads", "writes")

    def __init__(self, launch: Launch, outputs: Sequence[tuple[Value, int]]) -> None:
        effects = effects_of(launch.kernel)
        numbers = launch.buffers
        given = {numbers[place] for place in effects.given}
        results = given & {number for _, number in outputs}
        self.reads = {numbers[place] for place in effects.reads} | (given - results)
        self.writes = {numbers[place] for place in effects.writes} | results


def require_apart(launch: Launch, touched: Touched, places: Places, finding: Finding) -> None:
    """Raise if two buffers of a kernel share memory that it writes: the compiler is told that none do."""
    for first, second in places.overlapping(dict.fromkeys(launch.buffers)):
        if first in touched.writes or second in touched.writes:
            one, other = (first, second) if first in touched.writes else (second, first)
            shown = f"{finding.buffer(one)}, which it writes, and {finding.buffer(other)}"
            raise finding.error(f"{launch.kernel.name} has two buffers that share memory: {shown}", launch)


def require_fit(value: Value, buffer: Buffer, number: int, launch: object, finding: Finding) -> None:
    """Raise if a buffer is not made for a value's elements."""
    type, wanted = buffer.type, value.tensor
    if not fits(type, wanted):
        shown = f"{finding.buffer(number)} is to hold {finding.value(value)}"
        raise finding.error(f"a value does not fit into its buffer: {shown}", launch, value)


def fits(type: TensorType, wanted: TensorType) -> bool:
    """Return whether memory of one type holds elements of another."""
    return type.dtype == wanted.dtype and type.size == wanted.size


def missing_input(
    ops: Sequence[Op],
    inputs: Sequence[tuple[Value, int]],
    outputs: Sequence[tuple[Value, int]],
    roots: Roots,
) -> Value | None:
    """Return a value that outputs are computed from and that is none of the inputs, if there is one."""
    given = {value for value, _ in inputs}
    made = {value: op for op in ops for value in op.results}
    waiting, seen = [value for value, _ in outputs], set[Value]()
    same: set[Value] | None = None
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in made:
            waiting += used_by(made[value])
        elif value not in given and constant_of(value) is None:
            same = {roots.of(other) for other in given} if same is None else same
            if roots.of(value) not in same:
                return value
    return None


def holds_constant(buffer: Buffer, value: Value) -> bool:
    """Return whether a constant buffer has the elements of a value that a program has from the start."""
    wanted = constant_of(value)
    if wanted is None or buffer.data is None:
        return False
    return (
        wanted.dtype == buffer.data.dtype
        and wanted.size == buffer.data.size
        and wanted.tobytes() == buffer.data.tobytes()
    )


def is_writable(buffer: Buffer, writable: frozenset[int]) -> bool:
    """Return whether a program may write a buffer's memory: of arguments, that of those whose numbers are given."""
    if buffer.place is Place.ARGUMENT:
        return buffer.index in writable
    return buffer.place is not Place.CONSTANT
