"""A written kernel with what a launch of it needs to know, and a memory of those written before.

Programs repeat themselves (twelve equal layers), and so do their plans for other shapes; writing text costs more than
looking it up. What is kept fits all sizes that answer the writer's questions as the first ones did (`sizes`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from numhlo.backend.emit.kernel_text import BufferOf
from numhlo.backend.emit.registers import Register
from numhlo.backend.emit.sizes import Answers, Questions, Sizes, Slots
from numhlo.backend.program import Kernel
from numhlo.lowering.ir import Region, TensorType, Value

MOST_DRAFTS = 256
"""Structures whose texts are kept."""

MOST_VARIANTS = 32
"""Texts that are kept of one structure, for sizes that give other answers: sums of each short length have their own."""


class Draft(NamedTuple):
    """A kernel, the buffers and run-time numbers in its order, its cost, and whether it is scalar code (`Launch`)."""

    kernel: Kernel
    buffers: tuple[int, ...]
    dims: tuple[int, ...]
    extent: int
    grain: int
    flops: int
    bytes: int
    scalar: bool = False


Partial: TypeAlias = Callable[[Register, int], Value]
"""``partial(register, count)`` returns a value that has a scratch buffer for so many elements."""


class Unknowns:
    """What a writer gets instead of sizes and values, so that it can look at nothing else.

    Attributes
    ----------
    sizes : Sizes
    """

    def __init__(self, questions: Questions, buffers: Mapping[Value, int], first_free: int) -> None:
        self.sizes = questions.unknowns
        self.scratch: list[tuple[Register, int]] = []
        self._buffers, self._first_free = buffers, first_free
        self._region = Region()
        self._values: dict[Value, Value] = {}
        self._numbers: dict[Value, int] = {}

    def value(self, value: Value) -> Value:
        """Return what stands for a value: one without a shape."""
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = Value(TensorType((), value.tensor.dtype), self._region)
            if value in self._buffers:
                self._numbers[found] = self._buffers[value]
        return found

    def buffer(self, value: Value) -> int:
        """Return the number, among the kernel's own, of the buffer of what stands for a value."""
        return self._numbers[value]

    def partial(self, register: Register, count: int) -> Value:
        """Return what stands for scratch memory."""
        found = Value(TensorType((), register.dtype), self._region)
        self._numbers[found] = self._first_free + len(self.scratch)
        self.scratch.append((register, count))
        return found


class _Known:
    """Drafts with places of numbers instead of numbers, scratch memory likewise, and what the sizes must answer.

    Layers of one size follow each other, so the last sizes that fitted are kept with the numbers that they give.
    """

    __slots__ = ("_last", "answers", "drafts", "scratch")

    def __init__(self, answers: Answers, drafts: Sequence[Draft], scratch: Sequence[tuple[Register, int]]) -> None:
        self.answers, self.drafts, self.scratch = answers, drafts, scratch
        self._last: tuple[list[int], _Filling] | None = None

    def filling(self, sizes: list[int], questions: Questions | None) -> _Filling | None:
        """Return what fills the drafts for some sizes; None if these give other answers."""
        if questions is not None:
            return self._filling(self.answers.unknown_values(sizes, questions))
        last = self._last
        if last is not None and last[0] == sizes:
            return last[1]
        found = self._filling(self.answers.values(sizes))
        if found is not None:
            self._last = sizes, found
        return found

    def _filling(self, values: Sequence[int] | None) -> _Filling | None:
        if values is None:
            return None
        drafts = [
            (
                draft.kernel,
                draft.buffers,
                tuple([values[place] for place in draft.dims]),
                values[draft.extent],
                values[draft.grain],
                values[draft.flops],
                values[draft.bytes],
                draft.scalar,
            )
            for draft in self.drafts
        ]
        return _Filling(drafts, [(register, values[count]) for register, count in self.scratch])


class _Filling(NamedTuple):
    """The fields of drafts but for their buffers, of which these are numbers; and scratch memory, with its elements."""

    drafts: Sequence[tuple[Any, ...]]
    scratch: Sequence[tuple[Register, int]]

    def filled(self, buffers: list[int], memory: Callable[[Register, int], int]) -> list[Draft]:
        """Return the drafts for some buffers."""
        buffers += [memory(register, count) for register, count in self.scratch]
        return [Draft(kernel, tuple([buffers[k] for k in numbers]), *rest) for kernel, numbers, *rest in self.drafts]


_DRAFTS: dict[Hashable, tuple[_Known, ...]] = {}


def remembered(
    describe: Callable[[Sizes], Hashable],
    values: Sequence[Value],
    buffer_of: BufferOf,
    write: Callable[[Unknowns], list[Draft]],
    partial: Partial | None = None,
) -> list[Draft]:
    """Return what ``write`` returns, or returned for the same structure and sizes that make no difference.

    Parameters
    ----------
    describe : callable
        ``describe(sizes)`` returns all that the kernels are made from, buffers apart, with ``sizes[n]`` for every size
        ``n``.
    values : sequence of Value
        Whatever the kernels point to, in an order that the description determines.
    buffer_of : callable
    write : callable
        ``write(unknowns)`` returns the kernels; it knows nothing else of sizes and values than it is told.
    partial : callable, optional
        Makes scratch memory, where the kernels need some.
    """
    numbers = list(map(buffer_of, values))
    buffers = list(dict.fromkeys(numbers))
    pattern = tuple(map(buffers.index, numbers))
    slots = Slots(arrays=dict(zip(values, pattern, strict=True)))
    key = describe(slots), pattern
    sizes = slots.numbers

    def memory(register: Register, count: int) -> int:
        assert partial is not None
        return buffer_of(partial(register, count))

    questions = slots.questions
    variants = _DRAFTS.get(key, ())
    for known in variants:
        filling = known.filling(sizes, questions)
        if filling is not None:
            return filling.filled(buffers, memory)
    known = _write(slots, len(buffers), write)
    while key not in _DRAFTS and len(_DRAFTS) >= MOST_DRAFTS:
        _DRAFTS.pop(next(iter(_DRAFTS)), None)  # the oldest
    _DRAFTS[key] = (known, *variants[: MOST_VARIANTS - 1])
    filling = known.filling(sizes, questions)
    assert filling is not None
    return filling.filled(buffers, memory)


def _write(slots: Slots, first_free: int, write: Callable[[Unknowns], list[Draft]]) -> _Known:
    """Return freshly written drafts, and for which sizes they are right."""
    questions = Questions(slots.numbers, slots=slots)
    unknowns = Unknowns(questions, slots.arrays, first_free)
    place = questions.place
    drafts = [
        draft._replace(
            dims=tuple([place(number) for number in draft.dims]),
            extent=place(draft.extent),
            grain=place(draft.grain),
            flops=place(draft.flops),
            bytes=place(draft.bytes),
        )
        for draft in write(unknowns)
    ]
    scratch = [(register, place(count)) for register, count in unknowns.scratch]
    return _Known(questions.close(), drafts, scratch)
