"""A function of a StableHLO program that came from outside, as a Python callable.

Outside tracing it runs compiled, on the same path as a jitted function; inside it becomes a call in the graph, so that
it is jitted, vectorized and differentiated like any traced function. This file knows what arguments such a function
takes and what it refuses to run; what a module is for its user is in `numhlo.stablehlo`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from numhlo.backend.communication.transport import World, bound_transport, current_world
from numhlo.compilation.entry import as_operand
from numhlo.compilation.manual_programs import ManualPrograms
from numhlo.compilation.memory_orders import Orders, in_memory_order, orders_of, restored, transposed
from numhlo.compilation.programs import CompiledProgram, InterpretedProgram, make_program
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Function, Module, Op, TensorType, Type, capture_location
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from numhlo.lowering.ir.interruptions import ProcessLock
from numhlo.lowering.manual_computations import interpreting, is_manual, run_whole
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.communication import Communication, ProcessId, refusal
from numhlo.lowering.ops.dtype_table import NARROW_INTEGERS
from numhlo.lowering.ops.known_composites import check_composite
from numhlo.lowering.ops.process_groups import GridShape
from numhlo.lowering.passes.flatten_values import flatten, flatten_values, leaf_types, rebuild
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.passes.legalize_quantized import legalize_quantized
from numhlo.lowering.passes.legalizer import Condition, rule_of
from numhlo.lowering.passes.refine_shapes import (
    ValueDependentShapeError,
    can_be_known,
    is_static,
    op_is_refined,
    refine_shapes,
)
from numhlo.lowering.process_grid import Mailboxes, Place, run_process
from numhlo.lowering.shards import Mesh
from numhlo.lowering.text import print_module
from numhlo.lowering.text.foreign import EncodedTensorType, can_be
from numhlo.lowering.text.unregistered import DECLARATION, Unregistered
from numhlo.tracer.core.arguments import LeafType, leaf_type
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.bind import bind
from numhlo.tracer.core.operands import asarray
from numhlo.tracer.core.trace import current_trace

Shapes = tuple[tuple[int, ...], ...]
Key = tuple[Any, ...]
"""Shapes of arguments; then, where the program's shapes depend on them, the bytes of small integers among them."""

MOST_SHAPES = 512
"""Sets of shapes for which one function keeps a program."""

FIXES = {
    "tf": "TensorFlow has no StableHLO of it for unknown extents, or was not asked for it: export for given shapes, by "
    'tf.function(f, jit_compile=True).experimental_get_compiler_ir(*args)(stage="stablehlo")'
}
"""What to do about ops without a definition, by their dialect."""

MOST_DIMENSIONS = 64
LARGEST_ARRAY = 2**63 - 1
"""What NumPy's arrays have at most: dimensions, and bytes."""

PARTITIONED = frozenset({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"})
"""Custom calls of programs that a partitioner is to make the programs of processes of."""

_KINDS = "biufc"
"""Kinds of dtypes by what holds what: a Python scalar may become an array of its kind or a later one."""


class ProgramFunction:
    """One function of a program.

    Parameters
    ----------
    source : Function
        As parsed; left unchanged.
    verify : callable
        Checks the program that the function belongs to, for a grid of processes; called before anything is made of it.
    grid_of : callable, optional
        Returns the grid that so many processes are for the program; None where it is for one process.

    Attributes
    ----------
    source : Function
    programs : dict
        What runs it, once it has been run, by what it was made for: see `Key`.

    Examples
    --------
    >>> from numhlo.stablehlo import parse
    >>> negate = parse("func.func @negate(%x: tensor<f32>) -> tensor<f32> { "
    ...                "%0 = stablehlo.negate %x : tensor<f32> return %0 : tensor<f32> }").callable("negate")
    >>> negate(2)
    Array(-2., dtype=float32)
    """

    def __init__(
        self,
        source: Function,
        verify: Callable[[GridShape | None], None],
        grid_of: Callable[[int], GridShape | None] = lambda size: GridShape(size, 1),
    ) -> None:
        self.source, self._grid_of = source, grid_of
        self.programs: dict[Key, CompiledProgram | InterpretedProgram] = {}
        self.__name__ = self.__qualname__ = source.name
        self.__doc__ = f"{source!r}"
        self._functions: dict[Key, Function] = {}
        self._agreed: set[tuple[World, GridShape]] = set()
        self._whole: dict[Key, tuple[Function, ManualPrograms]] = {}
        self._depends_on_values = False
        self._orders: tuple[Orders, Orders] | None = None
        self._types = [leaf for type in source.argument_types for leaf in leaf_types(type)]
        self._verify = verify
        self._lock = ProcessLock()

    def __repr__(self) -> str:
        return repr(self.source)

    def function(self, shapes: Shapes, arrays: Sequence[np.ndarray] = ()) -> Function:
        """Return the function for arguments of the given shapes, in ops that every room knows, of static shapes.

        Parameters
        ----------
        shapes : tuple of tuple of int
            Of the arguments, tuples among them taken apart.
        arrays : sequence of numpy.ndarray, optional
            The arguments themselves, where they are there: shapes may depend on small integers among them.

        Raises
        ------
        VerificationError
            If its program breaks a constraint.
        UnsupportedError
            If it has an op, or a type, that numhlo has no definition of.
        """
        with self._lock.own:
            found = self._functions.get(self._key(shapes, arrays))
            if found is None:
                found = self._make_function(shapes, arrays)
                self._functions[self._key(shapes, arrays)] = found
            return found

    def _key(self, shapes: Shapes, arrays: Sequence[np.ndarray]) -> Key:
        if not self._depends_on_values:
            return shapes
        return (*shapes, *[(k, a.tobytes()) for k, a in enumerate(arrays) if can_be_known(a)])

    def _make_function(
        self,
        shapes: Shapes,
        arrays: Sequence[np.ndarray],
        grid: GridShape | None = None,
        is_kept: Condition | None = None,
    ) -> Function:
        self._verify(grid)
        function = flatten_values(legalize_quantized(self.source))
        if not is_static(function):
            _require_known(function)
            function = self._refine(function, shapes, arrays)
        _require_composites(function)
        function = legalize(function, is_kept=is_kept)
        _require_supported(function, is_kept)
        return function

    def prepare(self, arrays: Sequence[Any], grid: GridShape) -> Callable[[], tuple[Any, ...]]:
        """Return what runs the function on arrays, compiled, in the process whose transport the thread has."""
        operands = self._concrete(arrays)
        _require_own_shards(self.source, grid)
        self._require_plain_order()
        program = self._program(operands, grid)
        return lambda: self._grouped([np.asarray(x).view(Array) for x in program(operands)])

    def _require_plain_order(self) -> None:
        if any(self._orders or self._memory_orders()):
            raise UnsupportedError(
                f"@{self.source.name} has layouts of arguments or results, which processes of a grid do not honour",
                where=capture_location(),
                fix="leave them out, and transpose inside the program",
            )

    def prepare_interpreted(self, arrays: Sequence[Any], grid: GridShape) -> Callable[[Place], tuple[Any, ...]]:
        """Return what runs the function on arrays in one process of a grid, op by op."""
        operands = self._concrete(arrays)
        _require_own_shards(self.source, grid)
        with self._lock.own:
            function = self._make_function(tuple([x.shape for x in operands]), operands, grid, _is_of_processes)
        return lambda place: self._owned(run_process(function, operands, place))

    def run_sharded(
        self,
        arrays: Sequence[Any],
        grid: GridShape,
        meshes: Mapping[str, Mesh],
        host: Mailboxes,
        *,
        interpret: bool = False,
    ) -> tuple[Any, ...]:
        """Return the results of a function of whole arrays, whose manual computations run in a grid of processes."""
        operands = self._concrete(arrays)
        shapes = tuple([x.shape for x in operands])
        with self._lock.own:
            key = (grid, *self._key(shapes, operands))
            if key not in self._whole:
                function = self._make_function(shapes, operands, grid, _is_of_shards)
                key = (grid, *self._key(shapes, operands))  # which may depend on values, as is known only now
                self._whole[key] = function, ManualPrograms(self.source.name)
            function, programs = self._whole[key]
        runner = interpreting(grid, host) if interpret else programs.runner(grid, host)
        return self._owned(run_whole(function, operands, grid, meshes, runner))

    def _refine(self, function: Function, shapes: Shapes, arrays: Sequence[np.ndarray]) -> Function:
        types = [v.tensor.with_shape(s) for v, s in zip(function.body.arguments, shapes, strict=True)]
        if not self._depends_on_values:
            try:
                return refine_shapes(function, types)
            except ValueDependentShapeError:
                known = {k: a for k, a in enumerate(arrays) if can_be_known(a)}
                if not known:
                    raise
                function = refine_shapes(function, types, known)
            self._depends_on_values = True
            return function
        return refine_shapes(function, types, {k: a for k, a in enumerate(arrays) if can_be_known(a)})

    def _program(
        self, arrays: Sequence[np.ndarray], grid: GridShape | None = None
    ) -> CompiledProgram | InterpretedProgram:
        shapes, of_grid = tuple([x.shape for x in arrays]), () if grid is None else (grid,)
        with self._lock.own:
            found = self.programs.get((*of_grid, *self._key(shapes, arrays)))
            if found is None:
                if grid is None:
                    function = in_memory_order(self.function(shapes, arrays), *self._memory_orders())
                else:
                    function = self._make_function(shapes, arrays, grid, _is_of_processes)
                key = (*of_grid, *self._key(shapes, arrays))  # which may depend on values, as is known only now
                found = self.programs[key] = make_program(function, self.source.name)
                if len(self.programs) > MOST_SHAPES:
                    oldest = next(iter(self.programs))
                    del self.programs[oldest]
                    self._functions.pop(oldest, None)
            return found

    def __call__(self, *arrays: Any) -> Any:
        """Call the function: compiled, or as part of the function that is being traced.

        Returns
        -------
        Array, or tuple of Array
            The result where there is one, else a tuple of the results.
        """
        if current_trace() is None:
            results = self.run(*arrays)
        else:
            operands = self._operands(arrays)
            function = self.function(tuple([np.shape(x) for x in operands]))
            attributes = {"callee": function}
            leaves = bind(control_flow.CALL, *operands, attributes=attributes, results=function.result_types)
            results = self._grouped(leaves)
        return results[0] if len(results) == 1 else results

    @cached_property
    def communicates(self) -> bool:
        """Return whether the function is one process's part of what several do."""
        reachable = Module([self.source]).reachable()
        return any(_is_of_processes(op) for function in reachable for op in function.body.walk())

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the results, computed by compiled code; in a process of a grid, together with the others."""
        world = current_world()
        grid = None if world is None or not self.communicates else self._grid_of(world.size)
        if world is not None and grid is not None:
            return self._run_in(world, grid, arrays)
        arguments, results = self._orders or self._memory_orders()
        if not (arguments or results):
            operands = self._concrete(arrays)
            shapes = tuple([x.shape for x in operands])
            program = self.programs.get(self._key(shapes, operands)) or self._program(operands)
            return self._grouped([np.asarray(x).view(Array) for x in program(operands)])
        operands = self._concrete(arrays, arguments)
        plain = [restored(x, order) for x, order in zip(operands, arguments, strict=True)]
        program = self.programs.get(self._key(tuple([x.shape for x in plain]), plain)) or self._program(plain)
        found = zip(program(operands), results, strict=True)
        return self._grouped([restored(np.asarray(x).view(Array), order) for x, order in found])

    def _run_in(self, world: World, grid: GridShape, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Return the results of this process of a grid; the others are told if it fails."""
        try:
            if (world, grid) not in self._agreed:
                text = print_module(Module([*Module([self.source]).reachable()]))
                world.agree(f"the program @{self.source.name}", f"{grid}\n{text}")
                self._agreed.add((world, grid))
            call = self.prepare(arrays, grid)
            with bound_transport(world.transport(grid)):
                return call()
        except BaseException as error:
            world.fail(error)
            raise

    def interpret(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the results, computed op by op on the reference interpreter."""
        operands = self._concrete(arrays)
        function = self.function(tuple([x.shape for x in operands]), operands)
        return self._owned(interpret(function, operands))

    def _owned(self, results: Sequence[np.ndarray]) -> tuple[Any, ...]:
        return self._grouped([np.array(x).view(Array) for x in results])

    def _grouped(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """Return results as the program has them: tuples as tuples, None for a token."""
        rest = iter(leaves)
        return tuple([rebuild(rest, type) for type in self.source.result_types])

    def _memory_orders(self) -> tuple[Orders, Orders]:
        """Return in which orders the arguments and the results lie in memory; nothing where all are in C's."""
        if self._orders is None:
            found = orders_of(self.source)
            asked = any(order is not None for group in found for order in group)
            self._orders = found if asked else ((), ())
        return self._orders

    def _concrete(self, arrays: Sequence[Any], orders: Orders = ()) -> list[np.ndarray]:
        pairs = enumerate(zip(self._operands(arrays), self._types, strict=True))
        if not orders:
            return [as_operand(x, LeafType(t), str(k)) for k, (x, t) in pairs if isinstance(t, TensorType)]
        found = []
        for k, (x, t) in pairs:
            if isinstance(t, TensorType):
                lying = transposed(np.asarray(x), orders[k])
                found.append(as_operand(lying, LeafType(t.with_shape(lying.shape)), str(k)))
        return found

    def _operands(self, arrays: Sequence[Any]) -> list[Any]:
        types = self.source.argument_types
        if len(arrays) != len(types):
            raise ArgumentError(
                f"{self.source.name} takes {counted(len(types), 'array')}, not {len(arrays)}",
                where=capture_location(),
                why=f"it is {self.source!r}",
            )
        leaves = [leaf for x, t in zip(arrays, types, strict=True) for leaf in flatten(x, t)]
        return [self._operand(x, t, k) for k, (x, t) in enumerate(zip(leaves, self._types, strict=True))]

    def _operand(self, leaf: Any, type: Type, number: int) -> Any:
        if not isinstance(type, TensorType):
            raise UnsupportedError(
                f"{self.source.name} takes a {type} as argument {number}, which no array is", where=capture_location()
            )
        found = leaf_type(leaf, str(number))
        fits = can_be(type, found.tensor.shape)
        if fits:
            if found.tensor.dtype == type.dtype:
                return leaf
            if found.weak and _KINDS.index(found.tensor.dtype.kind) <= _KINDS.index(_kind(type.dtype)):
                return self._scalar(leaf, type, number)
        error = DTypeError if fits else ShapeError
        raise error(
            f"{self.source.name} takes {_wanted(type)} as argument {number}, not {found}",
            where=capture_location(),
            why="a StableHLO program says what it takes, and nothing is converted silently",
            fix="" if error is ShapeError else f"pass np.asarray(x, {type.dtype.name!r})",
        )

    def _scalar(self, leaf: Any, type: TensorType, number: int) -> Any:
        try:
            if type.dtype in NARROW_INTEGERS and isinstance(leaf, int) and leaf != int(asarray(leaf, type.dtype)):
                raise OverflowError
            return asarray(leaf, type.dtype)
        except OverflowError:
            raise ArgumentError(
                f"{self.source.name} takes {type.short()} as argument {number}, which can't hold {leaf}",
                where=capture_location(),
            ) from None


def _wanted(type: TensorType) -> str:
    """Return a type as messages have it, with the bounds of its extents where it has some."""
    return str(type) if isinstance(type, EncodedTensorType) else type.short()


def _kind(dtype: np.dtype) -> str:
    """Return a dtype's kind; ml_dtypes' own call themselves void."""
    if dtype.kind != "V":
        return dtype.kind
    return "i" if "int" in dtype.name else "f"


def _is_of_processes(op: Op) -> bool:
    return isinstance(op.definition, Communication | ProcessId)


def _is_of_shards(op: Op) -> bool:
    return is_manual(op) or _is_of_processes(op)


def _require_composites(function: Function) -> None:
    """Raise unless composites of numhlo's own names are what numhlo takes them for."""
    for reached in Module([function]).reachable():
        for op in reached.body.walk():
            if op.definition is control_flow.COMPOSITE:
                check_composite(op)


def _require_supported(function: Function, is_kept: Condition | None) -> None:
    """Raise unless every op has a definition, and arrays can hold every value."""
    fitting: set[Type] = set()
    for reached in Module([function]).reachable():
        for op in reached.body.walk():
            if is_kept is None or not is_kept(op):
                _require_op(op, reached)
            for value in op.results:
                if value.type not in fitting:
                    _require_array(value.type, op)
                    fitting.add(value.type)


def _require_own_shards(function: Function, grid: GridShape) -> None:
    """Raise if a program says how whole arrays are spread over processes, which each have a part of their own."""
    if grid == (1, 1):
        return
    for reached in Module([function]).reachable():
        for op in reached.body.walk():
            definition = op.definition
            target = op.attributes.get("call_target_name")
            if definition.dialect == "sdy" or (definition is control_flow.CUSTOM_CALL and target in PARTITIONED):
                raise UnsupportedError(
                    f"{definition.dialect}.{definition.name} can't be run in a grid of processes",
                    where=op.location,
                    why="it is about whole arrays, and each process has its part",
                    fix="call run_sharded with whole arrays",
                )


def _require_array(type: Type, op: Op) -> None:
    """Raise unless NumPy has arrays of a type."""
    if not isinstance(type, TensorType) or not type.is_static:
        return
    if type.ndim > MOST_DIMENSIONS:
        raise UnsupportedError(
            f"{op.definition.name}: its result has {type.ndim} dimensions",
            where=op.location,
            why=f"NumPy's arrays have at most {MOST_DIMENSIONS}",
            fix="reshape to fewer, such as without those of 1",
        )
    if math.prod(max(extent, 1) for extent in type.shape) * type.dtype.itemsize > LARGEST_ARRAY:
        raise UnsupportedError(
            f"{op.definition.name}: its result {type} is larger than any array",
            where=op.location,
            why="sizes are counted in 64 bits",
        )


def _require_op(op: Op, function: Function) -> None:
    definition = op.definition
    if definition is DECLARATION:
        raise UnsupportedError(
            f"@{function.name} is declared in the program, but has no body",
            where=function.location,
            fix="link it in, and print the program again",
        )
    if isinstance(definition, Communication):
        error = refusal(definition.name)
        error.where = op.location
        raise error
    if isinstance(definition, Unregistered):
        raise UnsupportedError(
            f"{definition.dialect}.{definition.name} can't be run",
            where=op.location,
            why="numhlo has no definition of it",
            fix=FIXES.get(definition.dialect, "export the program with it decomposed into StableHLO ops"),
        )


def _require_known(function: Function) -> None:
    """Raise unless what has no definition becomes something else when shapes are refined, or after."""
    for reached in Module([function]).reachable():
        for op in reached.body.walk():
            is_replaced = op.definition.dialect == "chlo" or op_is_refined(op) or rule_of(op) is not None
            if isinstance(op.definition, Unregistered) and not is_replaced:
                _require_op(op, reached)
