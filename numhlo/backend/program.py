"""What the planner hands to the runtime: buffers, kernels, and a tree of steps.

The vocabulary of the backend. `numhlo.backend.planning` builds a `Program` from an optimized function; the engines in
`numhlo.backend.runtime` run it. A kernel is Python source with one signature, ``kernel(ctx, bufs, dims, lo, hi)``:

- ``ctx``: address of the call's context (`numhlo.backend.runtime.context` has its layout),
- ``bufs``: address of an int64 array with the kernel's buffer addresses, in the order of `Launch.buffers`,
- ``dims``: address of an int64 array with the run-time numbers (extents, strides) of this launch,
- ``lo, hi``: the range of work units to do, ``0 <= lo <= hi <= Launch.extent``; chunks of one launch are independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import TypeAlias

import numpy as np

from numhlo.backend.kernels.draft import KernelDraft
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ir.records import record


class Place(Enum):
    """Who owns a buffer's memory."""

    ARGUMENT = "argument"  # the caller's array; `Buffer.index` says which
    RESULT = "result"  # a fresh array for the caller; `Buffer.index` says which
    CONSTANT = "constant"  # `Buffer.data`
    ARENA = "arena"  # `Buffer.offset` bytes into the call's arena


@record(frozen=True, slots=True)
class Buffer:
    """One C-contiguous array of a program."""

    type: TensorType
    place: Place
    index: int = 0
    offset: int = 0
    data: np.ndarray | None = None

    def at(self, offset: int) -> Buffer:
        """Return the same buffer at another place of the arena."""
        return Buffer(self.type, self.place, self.index, offset, self.data)


@record(frozen=True, slots=True)
class Kernel:
    """A kernel's source text, which defines one function called ``name``; equal sources are one kernel.

    Attributes
    ----------
    name, source : str
    callees : frozenset of str
        The primitives and functions that it calls, by name.
    lines : int
        Of the function.
    draft : KernelDraft or None
        What the text is made of; kernels that are written by hand have none.
    """

    name: str
    source: str
    callees: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    lines: int = field(default=0, compare=False, repr=False)
    draft: KernelDraft | None = field(default=None, compare=False, repr=False)


@record(slots=True, eq=False)
class Launch:
    """Run one kernel over a range of work units.

    Attributes
    ----------
    kernel : Kernel
    buffers : tuple of int
        Buffer numbers in the kernel's order.
    dims : tuple of int
        Run-time numbers.
    extent : int
        Work units; chunks ``[lo, hi)`` may run on any thread.
    grain : int
        Least work units worth a chunk (about 20 µs of work); more than ``extent`` where the kernel must run whole.
    ops : sequence of Op
        What the kernel computes, for the NumPy engine and for display.
    inputs, outputs : sequence of (Value, int)
        Which buffer holds which of the ops' free values and results.
    flops, bytes : int
        Cost estimates for one run.
    follows : bool
        The next part of what the launch before began, with no ops of its own: both must run on the same engine.
    scalar : bool
        The kernel is scalar code with loops: plain Python runs it faster than NumPy does, op by op on single numbers.
    loop : Loop or None
        The loop of which the kernel does all rounds, with the steps that it is made of.
    parts : sequence of Launch
        Launches that the kernel does one after the other; they have the ops then.
    """

    kernel: Kernel
    buffers: tuple[int, ...]
    dims: tuple[int, ...]
    extent: int
    grain: int
    ops: Sequence[Op]
    inputs: Sequence[tuple[Value, int]]
    outputs: Sequence[tuple[Value, int]]
    flops: int = 0
    bytes: int = 0
    follows: bool = False
    scalar: bool = False
    loop: Loop | None = None
    parts: Sequence[Launch] = ()


@record(slots=True, eq=False)
class Evaluate:
    """Run one op by its definition on NumPy, in Python: a slow path, which `explain` names with its reason."""

    op: Op
    inputs: Sequence[tuple[Value, int]]
    outputs: Sequence[tuple[Value, int]]
    reason: str


@record(slots=True, eq=False)
class Communicate:
    """Let the transport exchange buffers with other processes, or with the host: a collective, send, recv, an id.

    Attributes
    ----------
    op : Op
    inputs : sequence of (Value, int)
        Which buffer holds which operand; then those of the values that a reducer uses from outside.
    outputs : sequence of (Value, int)
        Buffers that share no memory with the inputs: other processes read those while these are written.
    """

    op: Op
    inputs: Sequence[tuple[Value, int]]
    outputs: Sequence[tuple[Value, int]]


@record(frozen=True, slots=True)
class Counting:
    """How a loop's steps do nothing but count, where they do.

    Attributes
    ----------
    advance : int
        Which step of the body adds ``step`` to the counter; the condition's only one asks whether it is below
        ``limit``.
    tested, counter, advanced : int
        The buffers that the condition reads, that the body reads, and that it writes.
    limit, step, itemsize : int
    """

    advance: int
    tested: int
    counter: int
    advanced: int
    limit: int
    step: int
    itemsize: int


@record(slots=True, eq=False)
class Loop:
    """Run ``condition`` then, while the boolean in buffer ``predicate`` holds, ``body`` and ``condition`` again."""

    condition: list[Step]
    predicate: int
    body: list[Step]
    op: Op
    state: Sequence[int] = ()
    """The buffers of the op's operands while it goes round, and of its results then."""
    inputs: Sequence[tuple[Value, int]] = ()
    """Which buffer holds which value that the op uses from outside."""
    counting: Counting | None = None


@record(slots=True, eq=False)
class Branch:
    """Run one of ``branches``: number ``buffer[index]`` (int32, or boolean with False first), the last if outside."""

    index: int
    branches: list[list[Step]]
    op: Op


@record(slots=True, eq=False)
class Exchange:
    """Swap the addresses of pairs of arena buffers of equal type (a loop's carries, without a copy).

    The swap outlives the loop and the call: a pair's memory belongs to both buffers for as long as either is live.
    """

    pairs: tuple[tuple[int, int], ...]


@record(slots=True, eq=False, repr=False)
class Subroutine:
    """Steps that calls from several places share; they call no steps that call them.

    Attributes
    ----------
    name : str
        The function's.
    steps : list of Step
    place : int
        The buffer (int32) that tells which of its calls to go on after.
    calls : int
        How many there are.
    body : Region or None
        What the steps compute, as it was planned.
    arguments, results : sequence of int
        The buffers of what it takes and of what it gives.
    """

    name: str
    steps: list[Step]
    place: int
    calls: int = 0
    body: Region | None = None
    arguments: Sequence[int] = ()
    results: Sequence[int] = ()


@record(slots=True, eq=False)
class Call:
    """Run a subroutine's steps; this is call ``index`` of it, which the constant buffer ``number`` holds."""

    subroutine: Subroutine
    index: int
    number: int
    op: Op


class Obstacle(Enum):
    """What kept a kernel from computing a value that it uses; the text goes on with the op that uses it."""

    WHOLE = "all of it must be there for"
    AXES = "it is reduced along other axes than by"
    ORDER = "it is dear, and not read in the order of memory by"
    AGAIN = "it is dear, and would be computed more than once in"
    LONG = "one kernel would become too long with"
    OVERWRITTEN = "what it is computed from is overwritten before"
    LATER = "more must be there first for"


Kept: TypeAlias = tuple[Obstacle, Op]
"""Why a value is in memory, and the op that uses it."""

Step: TypeAlias = Launch | Evaluate | Communicate | Loop | Branch | Exchange | Call


@record(slots=True, eq=False)
class Program:
    """Buffers and steps of one executable."""

    buffers: list[Buffer]
    steps: list[Step]
    arena_bytes: int
    results: list[int] = field(default_factory=list)
    """Buffer number of each result of the function; a donated argument's buffer may be among them."""
    notes: list[str] = field(default_factory=list)
    """What is not compiled, or takes several kernels, and why."""
    kept: Mapping[Value, Kept] = field(default_factory=dict)
    """Why values lie in memory that kernels might have computed where they are used."""
    written: dict[int, int] = field(default_factory=dict)
    """For arguments that the function writes into, by number: the buffer that holds the new value after the steps."""
    subroutines: Sequence[Subroutine] = ()
    """What the steps call."""
    overwritten: frozenset[int] = frozenset()
    """Those of them whose memory the steps use, so that a call that breaks off would leave it half written."""
    has_ops: bool = True
    """Whether launches have their ops; without them, only native code can run the steps."""
    body: Region | None = None
    """What the steps compute, as it was planned: the function's ops, or what they were expanded to."""

    @property
    def arena_buffers(self) -> list[tuple[int, int]]:
        """Return the numbers and offsets of the buffers in the arena."""
        return [(number, b.offset) for number, b in enumerate(self.buffers) if b.place is Place.ARENA]

    @property
    def kernels(self) -> list[Kernel]:
        """Return the distinct kernels in order of first use."""
        found: dict[Kernel, None] = {}
        shared = [step for subroutine in self.subroutines for step in subroutine.steps]
        stack: list[Step] = list(reversed([*self.steps, *shared]))
        while stack:
            step = stack.pop()
            match step:
                case Launch():
                    found.setdefault(step.kernel)
                case Loop():
                    stack.extend(reversed([*step.condition, *step.body]))
                case Branch():
                    stack.extend(s for b in reversed(step.branches) for s in reversed(b))
                case _:
                    pass
        return list(found)
