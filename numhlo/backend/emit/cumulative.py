"""Running sums, products, maxima and minima: one after the other along the axis, side by side across it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from numhlo.backend.emit.access import whole_array
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft, remembered
from numhlo.backend.emit.expressions import Graph
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.loop_rounds import write_look, write_poll
from numhlo.backend.emit.maps import Store, all_strides, cost_of, kernel_name, open_rows
from numhlo.backend.emit.nest import Axis, Nest, collapse
from numhlo.backend.emit.registers import REGISTERS, Register, literal
from numhlo.backend.emit.scalar_code import NotScalarError, ScalarWriter, writes
from numhlo.backend.emit.sizes import reckoned
from numhlo.backend.emit.special import COMPOSITE_KERNELS, NAMESPACE
from numhlo.backend.emit.tables import RootRule
from numhlo.backend.primitives import STORAGES
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.cumulative import COMBINERS, initial_value

COLUMNS, LEAST_COLUMNS, MOST_COLUMNS = 64, 512, 4096
"""Lines side by side in one unit where memory does not run along the axis; at least and at most in one piece."""

SCALAR_COLUMNS = 5
"""Fewer lines side by side are no SIMD code."""

FEW_COLUMNS = 16
"""Fewer lines side by side keep their totals on the stack."""

DEAR = 8
"""Operations of an element that are rather SIMD code before totals are made, which wait for each other."""

BLOCK = 1024
"""Elements of a line that are computed as SIMD code before their running totals are."""

LONG_LINE, STRIP, ROWS = 1 << 14, 1 << 16, 1 << 10
"""Elements along the axis from which on somebody looks whether the user wants to stop; between looks, in a line and of
lines side by side."""

RUNNING_OPS = frozenset(f"{NAMESPACE}{name}" for name in COMBINERS)
"""Names of the composites that make running totals."""

RUNNING = {"cumsum": "add", "cumprod": "multiply", "cummax": "maximum", "cummin": "minimum"}
"""Words that total in any order."""

STEPS = {
    "cumsum": {"f": "{0} + {1}", "c": "{0} + {1}", "b": "{0} | {1}", "i": "add({0}, {1})", "u": "add({0}, {1})"},
    "cumprod": {
        "f": "{0} * {1}",
        "c": "make_{T}({0}.real * {1}.real - {0}.imag * {1}.imag, {0}.real * {1}.imag + {0}.imag * {1}.real)",
        "b": "{0} & {1}",
        "i": "multiply({0}, {1})",
        "u": "multiply({0}, {1})",
    },
    "cummax": {"f": "maximum({0}, {1})", "b": "{0} | {1}", "i": "maximum({0}, {1})", "u": "maximum({0}, {1})"},
    "cummin": {"f": "minimum({0}, {1})", "b": "{0} & {1}", "i": "minimum({0}, {1})", "u": "minimum({0}, {1})"},
}


def is_free(kind: str, register: Register) -> bool:
    """Return whether totals are the same in any order."""
    if register.kind == "f":
        return kind in ("cummax", "cummin") and not register.narrow
    return register.kind in "biu" and not register.narrow


def is_running(op: Op) -> bool:
    """Return whether an op makes running totals that have a kernel."""
    return op.definition is COMPOSITE and op.attributes["name"] in RUNNING_OPS and not _refuse(op)


def kind_of(op: Op) -> str:
    """Return which totals an op makes: ``cumsum``, ``cumprod``, ``cummax`` or ``cummin``."""
    name: str = op.attributes["name"]
    return name.rpartition(".")[2]


def next_total(kind: str, register: Register, total: str, value: str) -> str:
    """Return the text of a total and one more value."""
    return register.wrap(STEPS[kind][register.kind].format(total, value, T=register.name))


def first_total(kind: str, register: Register) -> str:
    """Return the text of what a total begins with."""
    return literal(initial_value(kind, register.dtype).reshape(1)[0], register)


def _refuse(op: Op) -> str:
    register = REGISTERS[op.result.tensor.dtype]
    known = register.kind in STEPS[kind_of(op)]
    return "" if known else f"{kind_of(op)} of {register.dtype} has no kernel"


def emit_cumulative(op: Op, planner: Any) -> None:
    """Append the launch of a running reduction."""
    expressions = planner.operand_expressions(op, 0)
    node = expressions.visit(op.operands[0])
    planner.output(op.result)
    if op.result.tensor.size == 0:
        return
    store = Store(node, op.result, whole_array(expressions.shape), REGISTERS[op.result.tensor.dtype])
    parameters = op.attributes["composite_attributes"]
    kind, axis, reverse = kind_of(op), parameters["axis"], parameters["reverse"]
    (draft,) = remembered(
        lambda sizes: (kind, axis, reverse, store.key(sizes), expressions.key(sizes)),
        [op.result, *expressions.loads],
        planner.buffer,
        lambda unknowns: [
            RunningWriter(kind, axis, expressions.over(unknowns), store.over(unknowns), unknowns.buffer).write(reverse)
        ],
    )
    expressions.used[op] = None
    planner.launch(draft, expressions, [op.result])


_least_groups, _at_least = reckoned(min), reckoned(max)


class RunningWriter:
    """Writes the kernel of one op.

    Attributes
    ----------
    is_stored : bool
        Whether somebody else needs the totals.
    least : int
        Units of a chunk, at least.
    step_flops : int
        What a total costs, which waits for the one before where memory runs along the axis.
    is_first : bool
        Whether the first ones of lines side by side are being written.
    waits : bool
        Whether totals wait for each other, rather than being SIMD code.
    """

    is_stored = True
    least = 1
    step_flops = 4
    waits = True
    is_first = False

    def __init__(self, kind: str, axis: int, expressions: Graph, store: Store, buffer_of: BufferOf) -> None:
        self.kind, self.axis, self.expressions, self.buffer_of = kind, axis, expressions, buffer_of
        self.store, self.node, self.register, self.place = store, store.node, store.register, store.access

    def write(self, reverse: bool) -> Draft:
        """Return the kernel."""
        self.reverse = reverse
        shape = self.expressions.shape
        order = [d for d in range(len(shape)) if d != self.axis] + [self.axis]
        permuted = [tuple(p[d] for d in order) for p in self._strides()]
        axes = collapse([shape[d] for d in order], permuted, cuts=(len(order) - 1,))
        axes = [Axis(a.extent, tuple(order[d] for d in a.dims)) for a in axes]
        if not axes or axes[-1].dims != (self.axis,):
            axes.append(Axis(1, (self.axis,)))
        self.text = KernelText(self.buffer_of)
        self._declare()
        self.nest = Nest(self.text, self.expressions, axes)
        self.along = len(axes) - 1
        self.kept = list(range(self.along))
        across = self.kept and self.nest.strides(self.place)[self.along] != 1
        units = self._columns() if across else self._rows()
        size = math.prod(shape)
        flops, traffic = (size * each for each in self._cost())
        kernel = self.text.finish(self._name())
        grain = _at_least(grain_of(units, flops, traffic), self.least)
        return Draft(kernel, tuple(self.text.buffers), tuple(self.text.dims), units, grain, flops, traffic)

    def _strides(self) -> list[tuple[int, ...]]:
        """Return the strides of all that the kernel reads and writes."""
        return all_strides(self.expressions, [self.store])

    def _declare(self) -> None:
        """Name the pointers to results."""
        self.out = self.text.pointer(self.store.value, "out") if self.is_stored else ""

    def _cost(self) -> tuple[int, int]:
        """Return operations and bytes of an element."""
        flops, traffic = cost_of(self.expressions, [self.store] if self.is_stored else [])
        return flops + self.step_flops, traffic

    def _name(self) -> str:
        return kernel_name(self.expressions, self.kind)

    def _scratch(self, few: bool) -> int:
        """Return how many totals are on the stack."""
        return FEW_COLUMNS if few else 0

    def _go_on(self, total: str) -> None:
        """Write what is made of an element's total."""

    def _end(self, width: str, first: str) -> None:
        """Write what is made of all totals of a piece of lines side by side."""

    def _initial(self) -> str:
        return first_total(self.kind, self.register)

    def _step(self, total: str, value: str) -> str:
        text = next_total(self.kind, self.register, total, value)
        quick = self.waits and self.register.kind == "f" and is_free(self.kind, self.register)
        return f"quick_{text}" if quick else text

    @contextmanager
    def _steps(self) -> Iterator[None]:
        """Open the loop along the axis, backwards if that is asked for."""
        with self._strips(0, STRIP) as bounds:
            if not self.reverse:
                with self.nest.loop(self.along, bounds):
                    yield
                return
            with self.nest.block(f"for step in range({bounds}):"):
                self.nest.set_variable(self.along, f"{self.nest.extent(self.along)} - 1 - step")
                yield

    @contextmanager
    def _strips(self, first: int, steps: int) -> Iterator[str]:
        """Give the bounds of a loop along the axis: if it is long, of strips between looks whether to stop."""
        extent = self.nest.extent(self.along)
        if self.nest.axes[self.along].extent < LONG_LINE:
            yield f"{first}, {extent}" if first else extent
            return
        with self.nest.block(f"for strip in range({first}, {extent}, {steps}):"):
            yield f"strip, min(strip + {steps}, {extent})"
            write_look(self.text)

    def _store(self, value: str) -> None:
        self.text.line(f"store_{self.register.storage}({self.out}, {self.nest.index(self.place)}, {value})")

    def _rows(self) -> int:
        """Write one line after the other; a unit is a line."""
        if self.kept:
            with open_rows(self.nest, self.kept):
                self._row()
        else:
            self._row()
        return math.prod(self.nest.axes[k].extent for k in self.kept)

    def _row(self) -> None:
        total = self.text.fresh("total")
        if is_free(self.kind, self.register) and not self.reverse:
            self._blocks(total)
            return
        self.text.line(f"{total} = {self._initial()}")
        if not self.reverse and cost_of(self.expressions, [])[0] > DEAR:
            with self._elements() as (block, stop), self.nest.loop(self.along, f"{block}, {stop}"):
                place = self.nest.index(self.place)
                self._add(total, self.text.let(f"load_{self.register.storage}({self.out}, {place})", "x"))
            return
        with self._steps():
            self.nest.write([self.node])
            self._add(total, self.nest.name(self.node))

    def _add(self, total: str, value: str) -> None:
        self.text.assign(total, self._step(total, value))
        self._store(total)

    def _blocks(self, total: str) -> None:
        """Write a line whose totals are the same in any order: its elements as SIMD code, then their totals."""
        text = self.text
        word, first = RUNNING[self.kind], self._initial()
        if self.register.kind == "b":  # a byte that is 0 or 1
            word = "maximum" if word in ("add", "maximum") else "minimum"
            first = f"to_u8({first})"
        text.line(f"{total} = {first}")
        with self._elements() as (block, stop):
            with self.nest.fixed({self.along: "0"}):
                start = self.nest.index(self.place)
            place = block if start == "0" else f"{start} + {block}"
            text.assign(total, f"running_{word}({self.out}, {place}, {stop} - {block}, {total})")

    @contextmanager
    def _elements(self) -> Iterator[tuple[str, str]]:
        """Open a loop over blocks of a line, whose elements are written where totals go; give a block's bounds."""
        text, count = self.text, self.nest.extent(self.along)
        block = text.fresh("block")
        with self.nest.block(f"for {block} in range(0, {count}, {BLOCK}):"):
            stop = text.let(f"min({block} + {BLOCK}, {count})", "stop")
            with self.nest.loop(self.along, f"{block}, {stop}"):
                self.nest.write([self.node])
                self._store(self.nest.name(self.node))
            yield block, stop
            if self.nest.axes[self.along].extent >= LONG_LINE:
                write_poll(self.text, str(BLOCK))

    def _columns(self) -> int:
        """Write many lines side by side: each element's total is read again where the next one is made.

        It is read from the result, or from the stack where that would wait: for a few lines, which are there at once.
        What one thread has of a row is one piece, however many units that is: rows are read as they lie.
        """
        last, outer = self.kept[-1], self.kept[:-1]
        groups = -(-self.nest.axes[last].extent // COLUMNS)
        text, name = self.text, self.register.name
        self.waits = self.nest.axes[last].extent < SCALAR_COLUMNS
        kept = self._scratch(self.nest.axes[last].extent < FEW_COLUMNS)
        totals = text.stack_array("totals", kept, STORAGES[name].dtype.itemsize) if kept else ""
        text.line("unit = to_i64(lo)")
        with self.nest.block("while unit < hi:"):
            group, end = "unit", "hi"
            if outer:
                count = text.number("groups", groups, "groups")
                rest = text.let(f"divide(unit, to_i64({count}))", "rest")
                group = text.let(f"unit - {rest} * {count}", "group")
                end = f"min({count}, {group} + hi - unit)"
                self.nest.decode(rest, outer)
            end = text.let(f"min({end}, {group} + {MOST_COLUMNS // COLUMNS})", "end")
            first = text.let(f"{group} * {COLUMNS}", "first")
            width = text.let(f"min({end} * {COLUMNS}, {self.nest.extent(last)}) - {first}", "width")
            begin = f"({self.nest.extent(self.along)} - 1)" if self.reverse else "0"
            self.is_first = True
            with self.nest.fixed({self.along: begin}), self._line(width, first):
                self._total(self._initial(), totals)
            self.is_first = False
            with self._later_steps() as before, self._line(width, first):
                load = f"load_{name}({totals}, k)"
                if not totals:
                    with self.nest.fixed({self.along: before}):
                        load = f"load_{self.register.storage}({self.out}, {self.nest.index(self.place)})"
                self._total(text.let(load, "before"), totals)
            self._end(width, first)
            text.line(f"unit = unit + {end} - {group}" if outer else f"unit = {end}")
        self.least, self.step_flops = _least_groups(groups, LEAST_COLUMNS // COLUMNS), 1
        return groups * math.prod(self.nest.axes[k].extent for k in outer)

    @contextmanager
    def _line(self, width: str, first: str) -> Iterator[None]:
        """Open the loop over lines side by side."""
        with self.nest.block(f"for k in range({width}):"):
            self.nest.set_variable(self.kept[-1], f"{first} + k")
            yield

    @contextmanager
    def _later_steps(self) -> Iterator[str]:
        """Open the loop along the axis but for the first element; give the index of the one before."""
        extent = self.nest.extent(self.along)
        with self._strips(1, ROWS) as bounds:
            if not self.reverse:
                with self.nest.loop(self.along, bounds) as variable:
                    yield f"({variable} - 1)"
                return
            with self.nest.block(f"for step in range({bounds}):"):
                self.nest.set_variable(self.along, f"{extent} - 1 - step")
                yield f"({extent} - step)"

    def _total(self, before: str, totals: str) -> None:
        """Write the total of an element and those before it; also where few totals are, if anywhere."""
        self.nest.write([self.node])
        total = self.text.let(self._step(before, self.nest.name(self.node)), "total")
        if totals:
            self.text.line(f"store_{self.register.name}({totals}, k, {total})")
        if self.is_stored:
            self._store(total)
        self._go_on(total)


@writes(*RUNNING_OPS)
def write_running(writer: ScalarWriter, op: Op) -> None:
    """Write the totals of an array of few elements within scalar code."""
    reason = _refuse(op)
    if reason:
        raise NotScalarError(reason)
    kind, register, parameters = kind_of(op), REGISTERS[op.result.tensor.dtype], op.attributes["composite_attributes"]
    source = writer.names(op.operands[0])
    names = np.empty(source.shape, object)
    lines, totals = np.moveaxis(source, parameters["axis"], -1), np.moveaxis(names, parameters["axis"], -1)
    for place in np.ndindex(lines.shape[:-1]):
        total = first_total(kind, register)
        for k in range(lines.shape[-1])[:: -1 if parameters["reverse"] else 1]:
            total = totals[(*place, k)] = writer.let(
                next_total(kind, register, total, str(lines[(*place, k)])), "total"
            )
    writer.contents[op.result] = names


for _name in RUNNING_OPS:
    COMPOSITE_KERNELS[_name] = RootRule(emit_cumulative, refuse=_refuse, fusible=lambda op: (0,))
