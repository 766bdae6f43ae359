"""Blocks of lanes, where those that take a dear branch wait until a block of them is there.

A block decides for all of its lanes, and computes what is cheap. Where most take one dear branch, it is run for all of
them, as `lanes.blocks` has it. Others leave what they still need in the queue of their branch, with their number. A
queue that holds a block of lanes, or what is left at the end, is run as a block of its own, whose results go to where
its lanes belong. So the few lanes of a hundred that take a branch are SIMD code, too, and none waits for another's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.lanes.blocks import BLOCK, FEW_TAKING, PIECE, LaneBlockWriter, Start
from numhlo.backend.emit.lanes.values import CHEAP, cost, is_divergent
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_code import NotScalarError, ScalarWriter
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Region, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.control_flow import WHILE

MOST_WAITING = 56
"""Lanes of a block that are put into a queue: it is no loss if more than that run with the few others."""

LEAST_BLOCKS, LEAST_OF_LOOPS = 16, 8
"""Blocks that one thread goes through at least, so that lanes in queues find others; of dear loops, fewer."""

GROUP = 8
"""Lanes whose bytes of a mask are asked about at once."""

FEW_LEFT = 2
"""Lanes of a queue that are rather run one by one than as a piece of a block."""

BOOL = REGISTERS[np.dtype(bool)]
NUMBER = REGISTERS[np.dtype(np.int64)]


@record
class _Queue:
    """A dear branch, and the lanes that wait for it: how many, their numbers, and the arrays of their values."""

    region: Region
    mask: str
    count: str
    waiting: str
    numbers: str
    values: list[tuple[Value, np.ndarray]]

    def most(self) -> int:
        """Return how many lanes of a block wait rather than that the block runs the branch."""
        price = cost(self.region.ops)
        loops = any(op.definition is WHILE for op in self.region.walk())
        return MOST_WAITING if loops else min(MOST_WAITING, int(BLOCK * price / (price + CHEAP)))


class LaneQueueWriter(LaneBlockWriter):
    """Writes what blocks of lanes do around one branch that not all of them take.

    Parameters
    ----------
    text, scalars, body, arguments
        As of `LaneBlockWriter`.

    Raises
    ------
    NotScalarError
        If the body has no dear branch outside loops.
    """

    def __init__(self, text: KernelText, scalars: ScalarWriter, body: Region, arguments: Sequence[Value]) -> None:
        super().__init__(text, scalars, body, arguments)
        branches = [op for op in body.ops if op.definition is not WHILE and is_divergent(op, self.differing)]
        if not branches:
            raise NotScalarError("no lane takes a dear branch")
        self.branch = max(branches, key=lambda op: sum(cost(region.ops) for region in op.regions))
        position = body.ops.index(self.branch)
        self.before, self.after = body.ops[:position], body.ops[position + 1 :]
        self.dear = [region for region in self.branch.regions if cost(region.ops) > CHEAP]
        if not any(is_divergent(op, self.differing) for op in self.before):
            self.kept -= set(arguments).difference(self._needed(*self.dear))
        loops = any(op.definition is WHILE for op in body.walk())
        self.least_blocks = LEAST_OF_LOOPS if loops else LEAST_BLOCKS
        self.meets_again = any(is_divergent(op, self.differing) for op in self.after)

    def _needed(self, *regions: Region) -> set[Value]:
        """Return the values from before the branch that some of its regions, or what is behind it, use."""
        used = {v for region in regions for v in free_values(region)}
        used |= {v for op in self.after for v in (*op.operands, *free_values(op))}
        used.update(self.body.returns)
        return used.intersection(self._made()) & self.differing

    def _made(self) -> list[Value]:
        """Return the values from before the branch, in order."""
        return [*self.body.arguments, *(v for op in self.before for v in op.results)]

    def write(self, lanes: str, begin: Start, end: Callable[[], None]) -> None:
        """Write blocks ``lo`` to ``hi``, and those of the queues; the parameters are those of `LaneBlockWriter`."""
        text = self.text
        for op in self.before:
            if not any(v in self.differing for v in op.results):
                self.scalars.op(op)
        queues = [self._queue(region) for region in self.dear]
        if self.meets_again:
            self.active = self._array("active", BOOL)
        text.line("next_block = to_i64(lo)")
        for queue in queues:
            text.line(f"{queue.waiting} = to_i64(0)")
        with text.block("while True:"):
            self._choose_source(queues)
            for queue in queues:
                text.line(f"{queue.count} = to_i64(0)")
            with text.block("if source < 0:"):
                text.line(f"first = min(next_block * {BLOCK}, {lanes} - {BLOCK})")
                text.line("next_block += 1")
                text.line(f"pieces = to_i64({BLOCK // PIECE})")
                self._fresh(queues, begin)
            for number, queue in enumerate(queues):
                with text.block(f"elif source == {number}:"):
                    self._take(queue)
            self.pieces, self.few_taking = "pieces", FEW_LEFT
            for queue in queues:
                self._run(self.branch, queue.region, queue.mask, queue.count)
            self.pieces, self.few_taking = "", FEW_TAKING
            self._series(self.after, self.active if self.meets_again else "", None)
            with text.block("if source < 0:"), text.block(f"for k in range({BLOCK}):"):
                text.line("lane = first + k")
                end()
            for number, queue in enumerate(queues):
                with text.block(f"elif source == {number}:"), text.block("for k in range(width):"):
                    text.line(f"lane = load_i64({queue.numbers}, {queue.waiting} + k)")
                    end()

    def _queue(self, region: Region) -> _Queue:
        text = self.text
        needed, arrays = self._needed(region), []
        for value in self._made():
            if value not in needed:
                continue
            register = REGISTERS[value.tensor.dtype]
            names = np.empty(value.tensor.shape, object)
            for index in np.ndindex(names.shape):
                names[index] = self._array("queued", register, 2 * BLOCK)
            arrays.append((value, names))
        numbers = self._array("numbers", NUMBER, 2 * BLOCK)
        mask = self._array("takes", BOOL)
        return _Queue(region, mask, text.fresh("count"), text.fresh("waiting"), numbers, arrays)

    def _choose_source(self, queues: Sequence[_Queue]) -> None:
        """Write the choice of a queue that is full or, at the end, is not empty; else of the next block."""
        text = self.text
        text.line("source = -1")
        for number, queue in enumerate(queues):
            waiting = queue.waiting
            with text.block(
                f"{'el' if number else ''}if ({waiting} >= {BLOCK}) | ((next_block >= hi) & ({waiting} > 0)):"
            ):
                text.line(f"source = {number}")
        with text.block("elif next_block >= hi:"):
            text.line("break")

    def _fresh(self, queues: Sequence[_Queue], begin: Start) -> None:
        """Write what all lanes of the next block do up to the branch, which cheap ones of its regions are part of."""
        ops = [op for op in self.before if any(v in self.differing for v in op.results)]
        for value in self.branch.results:
            self.slot(value)

        def decide(writer: ScalarWriter) -> None:
            tests = dict(zip(self.branch.regions, self._tests(writer, self.branch), strict=True))
            for queue in queues:
                self._count(tests.pop(queue.region), "", queue.mask, queue.count)
            if self.meets_again:
                self.text.line(f"store_bool({self.active}, k, True)")
            if tests:  # what is left is cheap
                self._put(self.branch.results, self._choice(writer, list(tests), list(tests.values())))

        self._series(ops, "", decide, begin)
        for queue in queues:
            self._put_aside(queue)

    def _put_aside(self, queue: _Queue) -> None:
        """Write that lanes which take a branch wait in its queue, unless they are many."""
        text, count = self.text, queue.count
        with text.block(f"if ({count} > 0) & ({count} < {queue.most()}):"):
            text.line(f"{count} = to_i64(0)")
            with (
                text.block(f"for group in range({BLOCK // GROUP}):"),
                text.block(f"if load_u64({queue.mask}, group) != to_u64(0):"),
                text.block(f"for member in range({GROUP}):"),
            ):
                text.line(f"k = group * {GROUP} + member")
                text.line(f"store_i64({queue.numbers}, {queue.waiting}, first + k)")
                for value, arrays in queue.values:
                    self._copy(value, self.slot(value), "k", arrays, queue.waiting)
                text.line(f"taken = load_bool({queue.mask}, k)")
                text.line(f"{queue.waiting} += select(taken, to_i64(1), to_i64(0))")
                if self.meets_again:
                    text.line(f"store_bool({self.active}, k, load_bool({self.active}, k) & (taken ^ True))")

    def _take(self, queue: _Queue) -> None:
        """Write that the last lanes of a queue become the block; it is filled up with copies that do nothing."""
        text, waiting = self.text, queue.waiting
        text.line(f"width = min({waiting}, {BLOCK})")
        text.line(f"pieces = (width + {PIECE - 1}) >> {PIECE.bit_length() - 1}")
        text.line(f"{waiting} -= width")
        text.line(f"{queue.count} = width")
        for header, place in (
            ("for k in range(width):", f"{waiting} + k"),
            (f"for k in range(width, pieces * {PIECE}):", waiting),
        ):
            with text.block(header):
                for value, arrays in queue.values:
                    self._copy(value, arrays, place, self.slot(value), "k")
        with text.block(f"for k in range({BLOCK}):"):
            for mask in (queue.mask, *([self.active] if self.meets_again else [])):
                text.line(f"store_bool({mask}, k, k < width)")

    def _copy(self, value: Value, sources: np.ndarray, there: str, targets: np.ndarray, here: str) -> None:
        register = REGISTERS[value.tensor.dtype]
        part = register.name if register.kind != "c" else "f32" if register.name == "c64" else "f64"
        for source, target in zip(sources.reshape(-1), targets.reshape(-1), strict=True):
            for one, other in zip(str(source).split(), str(target).split(), strict=True):
                self.text.line(f"store_{part}({other}, {here}, load_{part}({one}, {there}))")
