"""The heart of tracing: `bind` appends an op to the graph under construction, and traced arrays refer to its values.

This file knows traces, traced arrays as storage cells, and how a value gets from an outer trace into an inner one. It
refuses to know NumPy's functions (`numhlo.library.numpy`), control flow, or any transformation.

A *trace* is one function or region body under construction; traces nest, and the innermost is the current one. Arrays
go to `bind` positionally, metadata as attributes, so a traced array can never hide in metadata.

A *traced array* has NumPy's semantics: it is a storage `Cell` and a chain of invertible `ViewStep`s on it. Reading
applies the steps; writing computes the whole cell's new value through their inverses. So views see writes to their base
and write through to it, while the graph stays in SSA form.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from numhlo.lowering.ir import (
    Location,
    Op,
    Region,
    TensorType,
    Type,
    Value,
    capture_location,
    element_spelling,
    tensor_type_of,
)
from numhlo.lowering.ir.errors import ConcretizationError, MutationError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.primitive import make_op
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.core.closed_over import stand_in
from numhlo.tracer.core.concrete_values import LARGEST, KnownValues
from numhlo.tracer.core.needed_values import needed_at_once
from numhlo.tracer.core.original_code import original_code
from numhlo.tracer.core.ties import Ties, require_one_value, require_unobserved
from numhlo.tracer.core.view_step import ViewStep

INLINE_CONSTANT_BYTES = 256
"""Captured arrays up to this size become constants in the graph; larger ones become hidden arguments."""


class Tracer:
    """A traced array: a cell and a chain of view steps. NumPy's methods are attached by `array_methods`.

    Attributes
    ----------
    cell : Cell
    steps : tuple of ViewStep
    aval : TensorType
    weak : bool
        The array stands for a Python scalar: in promotion it gives way to the other operand's dtype.
    """

    __slots__ = ("__weakref__", "_made_at", "_read", "aval", "cell", "steps", "weak")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cell: Cell[Trace], steps: tuple[ViewStep, ...], aval: TensorType):
        self.cell = cell
        self.steps = steps
        self.aval = aval
        self.weak = False
        self._read: tuple[Trace, Value, Value] | None = None
        self._made_at = capture_location() if steps else cell.location

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self.aval.size

    def through(self, step: ViewStep) -> Tracer:
        """Return a view: the same storage seen through one more step; storage of its own for a view of a scalar."""
        cell = self.cell
        if self.is_scalar:
            cell = Cell(cell.trace, cell.value, cell.location)
        return Tracer(cell, (*self.steps, step), step.result_type(self.aval))

    @property
    def is_scalar(self) -> bool:
        """Return whether NumPy would have an immutable scalar (or Python a number) here, and no 0-d array."""
        return not self.aval.shape and not self.steps and (self.weak or not self.cell.is_array)

    @property
    def home(self) -> Trace:
        """Return the trace that the value belongs to: the cell's, or an inner one whose arrays a step depends on."""
        found = self.cell.trace
        for step in self.steps:
            for operand in getattr(step, "starts", ()):
                if isinstance(operand, Tracer) and operand.home.is_inside(found):
                    found = operand.home
        return found

    def value(self) -> Value:
        """Return the graph value that the array holds now, in its `home`."""
        if not self.steps:
            return self.cell.value
        base = self.cell
        if self._read is None or self._read[0] is not base.trace or self._read[1] is not base.value:
            home = self.home
            with nullcontext() if home is _trace.get() else home.resumed():
                array = Tracer(base, (), base.value.tensor)
                if base.trace is not home:
                    array = home.wrap(home.read(array))
                outer, home.made_at = home.made_at, home.made_at or self._made_at  # not who happens to read it first
                try:
                    for step in self.steps:
                        array = step.get(array)
                finally:
                    home.made_at = outer
            self._read = (base.trace, base.value, array.cell.value)
        return self._read[2]

    def assign(self, new: Tracer) -> None:
        """Make the array hold ``new`` (same shape and dtype), writing through to its base.

        Raises
        ------
        MutationError
            If the storage belongs to an outer trace (a loop body, a branch, or a transformed function).
        """
        trace = current_trace()
        if self.cell.trace is not trace:
            error = MutationError(
                f"can't write into {self.aval.short()} here: it was made outside this traced function or loop body",
                where=capture_location(),
                why="a body's effects on outer arrays would be lost or run an unknown number of times",
                fix="pass the array in as an argument or carry, and return the new one",
            )
            error.storage = self.cell
            raise error
        if new.cell is self.cell and new.steps == self.steps:
            self.cell.version += 1
            return  # what Python does last in `x[1:3] += y`: it assigns what was updated to itself
        if self.cell.is_tied:
            require_unobserved(trace, self.cell)
        if self.steps:
            bases = [trace.wrap(self.cell.value)]
            for number, step in enumerate(self.steps[:-1], 1):  # views: many steps only ask for their shape
                bases.append(Tracer(bases[0].cell, self.steps[:number], step.result_type(bases[-1].aval)))
            for step, base in zip(reversed(self.steps), reversed(bases), strict=True):
                new = step.put(base, new)
        self.cell.value = trace.read(new)
        self.cell.version += 1
        if trace.watch is not None and self.steps and self.aval.size == 1:
            trace.watch.wrote_element(trace)

    @property
    def concrete(self) -> np.ndarray | None:
        """Return the array's value where the trace carries it or it is small and follows from constants, else None."""
        return self.home.values.find(self.value())

    def known(self) -> np.ndarray | None:
        """Return the array's value for those who can't do without: it may take computing large ones."""
        return self.home.values.find(self.value(), LARGEST)

    def concretize(self, what: str, fix: str, kind: type[ConcretizationError] = ConcretizationError) -> np.ndarray:
        """Return the array's value, or raise an error of a kind that says that ``what`` needs it."""
        known = self.known()
        if known is None:
            here = capture_location()
            raise kind(
                f"{what} of a traced array {self.aval.short()}",
                where=here,
                why=f"its value is not known while tracing{self.cell.origin(here)}",
                fix=fix,
            )
        return known

    def value_now(self) -> np.ndarray:
        """Return the value for an operation outside tracing; raise where it is not known, or the trace has ended."""
        if not self.home.open:
            Trace(None).read(self)  # raises
        return self.concretize(*needed_at_once(self.home.root.opener))


LOOK = 256
"""After how many operations the length of a trace is looked at."""


class Watch(Protocol):
    """What looks after the length of a trace."""

    def grew(self, trace: Trace) -> None:
        """Look at the last operations of a trace that has `LOOK` more of them."""

    def wrote_element(self, trace: Trace) -> None:
        """Note that an array's element was written in a trace."""

    def opened(self) -> None:
        """Note that a trace was made inside."""


class Trace:
    """One function or region body under construction.

    Parameters
    ----------
    parent : Trace or None
        The trace around this one.
    closed : bool
        A function body: outer arrays become extra arguments, listed in `captures`. Otherwise a region's body, which
        uses the values around it directly.
    concrete : bool
        Evaluate every op whose operands are known at once, so that Python control flow works on the values.
    linear : bool
        A body that is linear in its arguments: ops on none of its own arrays go to the trace around it.

    Attributes
    ----------
    differentiates : bool
        The body is of a function whose derivative by its explicit arguments is being taken.
    region : Region
        The body so far; hidden arguments are appended behind the explicit ones, in the order of `captures`.
    captures : list
        What each hidden argument stands for: a traced array of the parent, or a concrete array.
    known : dict
        The concrete values that the trace carries: all, where it is concrete, or what `values` has found.
    by_reference : dict
        Concrete arrays (by id) whose contents are read anew at every call; the root trace's counts.
    lifts : dict
        For each array of `by_reference`, the places in code where an operation took it, or a view of it, as an operand.
    copied : list
        Weak references to concrete arrays that were copied into the graph as they are now; kept by the root trace.
    memo : dict
        What is made once for a whole trace, such as functions that are called twice; kept by the root trace.
    names : dict
        What arguments are called in messages, with the function's name: of those that the user named.
    captured : object
        What finds captured state while tracing for `jit`; kept by the root trace.
    made_at : Location or None
        Where what is appended now was asked for, if that is not where Python is.
    opener : int
        Identity of the frame whose block the trace is open in, 0 where that is not known.
    ties : Ties or None
        Which storage may be the same as other storage, as far as this trace found.
    inlines : bool
        Arrays of any size become constants in the graph: there is nobody to pass them.
    watch : Watch or None
        What looks after the length of this trace and those in it, and may break them off.
    """

    def __init__(
        self, parent: Trace | None, *, closed: bool = True, concrete: bool = False, linear: bool = False
    ) -> None:
        self.parent = parent
        self.linear = linear
        self.closed = closed
        self.concrete = concrete
        self.open = True
        self.differentiates = self.inlines = False
        self.region = Region()
        self.values = KnownValues(eager=concrete)
        self.known = self.values.arrays
        self.captures: list[Tracer | np.ndarray] = []
        self.by_reference: dict[int, np.ndarray] = {}
        self.lifts: dict[int, set[tuple[Any, int]]] = {}
        self.copied: list[weakref.ref[np.ndarray]] = []
        self.memo: dict[Any, Any] = {}
        self.names: dict[Value, tuple[str, str]] = {}
        self.captured: Any = None
        self.made_at: Location | None = None
        self.opener = 0
        self._lifted: dict[Any, Any] = {}
        self.ties: Ties | None = None
        self.watch: Watch | None = None if parent is None else parent.watch
        if self.watch is not None:
            self.watch.opened()

    def resumed(self) -> AbstractContextManager[Trace]:
        """Make this the current trace for a while."""
        return _trace.bound(self, marks=_trace.get() is None)

    def place(self, operands: Sequence[Any]) -> Trace:
        """Return the trace that an op on these operands belongs to: linear ones leave outer arrays' ops to parents."""
        owners = [x.cell.trace for x in operands if isinstance(x, Tracer)]
        if self in owners:
            return self
        trace, owners = self, [owner for owner in owners if owner.open]
        while trace.linear and owners and trace not in owners:
            assert trace.parent is not None
            trace = trace.parent
        return trace

    @property
    def root(self) -> Trace:
        """Return the outermost trace around this one."""
        trace = self
        while trace.parent is not None:
            trace = trace.parent
        return trace

    def wrap(self, value: Value) -> Tracer:
        """Return a fresh traced array that holds ``value``."""
        owner = value.owner
        location = owner.location if type(owner) is Op else capture_location()
        return Tracer(Cell(self, value, location), (), value.tensor)

    def argument(self, type: Type, known: np.ndarray | None = None) -> Tracer:
        """Add an argument to the body and return it as a traced array."""
        value = self.region.add_argument(type)
        if known is not None and self.concrete:
            self.known[value] = known
        return self.wrap(value)

    def append(self, op: Op) -> list[Value]:
        """Append an op to the body, and return its results; evaluate it where the trace is concrete and it can be."""
        ops = self.region.ops
        ops.append(op)
        if self.watch is not None and not len(ops) % LOOK:
            self.watch.grew(self)
        if self.concrete and not (self.parent is not None and op_has_effects(op)):
            self.values.evaluate(op)  # effects happen once, in the outermost trace: inner ones are run again there
        return op.results

    def where(self) -> Location:
        """Return where what is appended now was asked for."""
        return self.made_at or capture_location()

    def constant(self, array: np.ndarray) -> Value:
        """Return a value that holds a concrete array: a constant op where small, else a hidden argument.

        An array that the root trace lists in `by_reference`, or a view of one, is passed anew at every call; any other
        is copied now, since the code being traced may write into it later.
        """
        array = _native(array)
        referenced = self.root.refer(array)
        if not referenced:
            self.root.copied.append(weakref.ref(array))
        if (array.nbytes <= INLINE_CONSTANT_BYTES or self.inlines) and not referenced:
            key = (array.dtype, array.shape, array.tobytes())
            if key not in self._lifted:
                op = make_op(creation.CONSTANT, (), {"value": np.array(array, order="C")}, location=self.where())
                (self._lifted[key],) = self.append(op)
            return self._lifted[key]  # type: ignore[no-any-return]
        if not self.closed and self.parent is not None:
            return self.parent.constant(array)
        reference = id(array)
        found = self._lifted.get(reference)
        if found is not None and (referenced or found[0].tobytes() == array.tobytes()):
            return found[1]  # type: ignore[no-any-return]
        kept = array if referenced else np.array(array, order="C")
        value = self._hidden_argument(tensor_type_of(array), kept, kept)
        self._lifted[reference] = (kept, value, array)
        return value

    def refer(self, array: np.ndarray) -> bool:
        """Return whether an array is passed by reference, and remember from where in the code it was asked for."""
        if array.base is None:
            found = id(array) if id(array) in self.by_reference else None
        else:
            found = next((k for k, known in self.by_reference.items() if np.may_share_memory(array, known)), None)
        if found is None:
            return False
        where = capture_location()
        code = None if where.code is None else original_code(where.code)
        self.lifts.setdefault(found, set()).add((code, where.offset))
        return True

    def _hidden_argument(self, type: Type, captured: Tracer | np.ndarray, known: np.ndarray | None) -> Value:
        value = self.region.add_argument(type)
        if known is not None and self.concrete:
            self.known[value] = known
        self.captures.append(captured)
        return value

    def read(self, array: Any) -> Value:
        """Return the value of a traced or concrete array in this trace, lifting it from an outer trace if need be.

        Raises
        ------
        LeakedTracerError
            If the traced array's trace has ended.
        """
        if not isinstance(array, Tracer):
            return self.constant(array if isinstance(array, np.ndarray) else np.asarray(array))
        cell = array.cell
        if cell.is_tied:
            require_one_value(self, cell)
        elif cell.trace is self and not array.steps:
            return cell.value  # nearly always
        owner = array.cell.trace if not array.steps else array.home
        if owner is self:
            return array.value() if array.steps else array.cell.value
        if owner.open and not self.is_inside(owner):
            return self.constant(array.value_now())
        if not owner.open:
            return self.read(stand_in(array))
        assert self.parent is not None
        outer = self.parent.read(array)
        if not self.closed:
            return outer
        if outer not in self._lifted:
            known = self.parent.known.get(outer)
            self._lifted[outer] = self._hidden_argument(outer.type, self.parent.wrap(outer), known)
        found: Value = self._lifted[outer]
        return found

    def is_inside(self, owner: Trace) -> bool:
        """Return whether ``owner`` is this trace, or one around it."""
        trace: Trace | None = self
        while trace is not None and trace is not owner:
            trace = trace.parent
        return trace is owner


def _native(array: np.ndarray) -> np.ndarray:
    """Return an array in native byte order, or raise `DTypeError` where StableHLO has no such element type."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    element_spelling(array.dtype)
    return array


_trace: ScopedValue[Any] = ScopedValue(None)


def outside_traces() -> AbstractContextManager[None]:
    """Run a block as if nothing were being traced in this thread."""
    return _trace.bound(None)


current_trace: Callable[[], Trace | None] = _trace.get
"""Returns this thread's innermost trace, or None outside tracing."""
