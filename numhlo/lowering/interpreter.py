"""The reference interpreter: runs functions op by op on NumPy arrays, by the ops' own `evaluate`.

A region is planned once (values become numbered slots, the last use of each is known) and then run as often as need be,
in a loop and not by recursion, so graphs may be of any depth. This module knows no op except `constant`, which is
evaluated while planning. Faster engines live in the backend; constant folding lives in the passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from numhlo.lowering.ir import Function, Op, Region, TensorType, Value, capture_location
from numhlo.lowering.ir.errors import InternalError, NumhloError, UnsupportedError
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.primitive import RESULT_TYPES, EvaluateRule

Array: TypeAlias = np.ndarray


def free_values(scope: Op | Region) -> list[Value]:
    """Return the values that regions use and do not define, each once, in order of first use.

    Parameters
    ----------
    scope : Op or Region
        For an op, what its regions use from outside; its own operands are not among them.

    Examples
    --------
    >>> free_values(Region())
    []
    """
    regions = scope.regions if isinstance(scope, Op) else [scope]
    found: dict[Value, None] = {}
    defined: set[Value] = set()
    for region in regions:
        _collect_free(region, defined, found)
    return list(found)


def _collect_free(region: Region, defined: set[Value], found: dict[Value, None]) -> None:
    defined.update(region.arguments)
    for op in region.ops:
        if not defined.issuperset(op.operands):
            found.update(dict.fromkeys(v for v in op.operands if v not in defined))
        for inner in op.regions:
            _collect_free(inner, defined, found)
        defined.update(op.results)
    found.update(dict.fromkeys(v for v in region.returns if v not in defined))


class BoundRegion:
    """A region as `evaluate` receives it: a callable that knows its structure and the outer values that it uses."""

    __slots__ = ("captured", "plan")

    def __init__(self, plan: Plan, captured: list[Array]) -> None:
        self.plan = plan
        self.captured = captured

    @property
    def region(self) -> Region:
        """Return the region."""
        return self.plan.region

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Return the region's results."""
        return self.plan.run([*arrays, *self.captured])


class BoundFunction:
    """A function as `evaluate` receives it; planned when it is first called."""

    __slots__ = ("_plan", "_plans", "function")

    def __init__(self, function: Function, plans: Plans) -> None:
        self.function = function
        self._plans = plans
        self._plan: Plan | None = None

    @property
    def region(self) -> Region:
        """Return the function's body."""
        return self.function.body

    def bind(self, function: Function) -> BoundFunction:
        """Return another function as a callable."""
        return self._plans.bind(function)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Return the function's results."""
        if self._plan is None:
            self._plan = Plan(self.function.body, self._plans)
        return self._plan.run(list(arrays))


class Plans:
    """The functions that one interpretation has met, each planned at most once."""

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: dict[Function, BoundFunction] = {}

    def bind(self, function: Function) -> BoundFunction:
        """Return a function as a callable."""
        if function not in self._functions:
            self._functions[function] = BoundFunction(function, self)
        return self._functions[function]

    def rule(self, op: Op) -> EvaluateRule:
        """Return what evaluates an op; a faster engine may know a quicker way to the same bits."""
        return op.definition.evaluate

    def inner(self, op: Op) -> Plans:
        """Return the plans for an op's regions."""
        return self

    def attributes(self, op: Op) -> Mapping[str, Any]:
        """Return an op's attributes as `evaluate` takes them: functions as callables, declared result types added."""
        changed: dict[str, Any] = {}
        for name, value in op.attributes.items():
            if isinstance(value, Function):
                changed[name] = self.bind(value)
        if op.definition.explicit_result:
            changed[RESULT_TYPES] = [value.type for value in op.results]
        return {**op.attributes, **changed} if changed else op.attributes


Step: TypeAlias = tuple[
    Op,
    EvaluateRule,
    Callable[[list[Any]], Sequence[Any]],  # reads the operands from a frame
    Mapping[str, Any],
    list[tuple["Plan", list[int]]],  # regions, with the slots of the values that they capture
    list[tuple[int, np.dtype | None]],  # slots and dtypes of the results
    list[int],  # slots whose value is used here for the last time
]


def _reader(slots: list[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """Return what reads ``slots`` of a frame as a sequence, at the speed of C."""
    if len(slots) > 1:
        return itemgetter(*slots)
    first = slots[0] if slots else 0
    return itemgetter(slice(first, first + len(slots)))


class Plan:
    """A region made ready to run: slots for its values, steps for its ops.

    Parameters
    ----------
    region : Region
    plans : Plans
        Shared by all plans of one interpretation.

    Attributes
    ----------
    captured : list of Value
        The values from outside; `run` takes their arrays after those of the arguments.
    """

    __slots__ = ("_plans", "_returns", "_steps", "_tail", "captured", "region")

    def __init__(self, region: Region, plans: Plans) -> None:
        self.region = region
        self.captured = free_values(region)
        self._plans = plans
        self._steps: list[Step] | None = None  # many are never run: what an op's body is can be seen without
        self._tail: list[Any] = []
        self._returns: list[int] = []

    def _prepare(self) -> list[Step]:
        """Give slots to values, and return the steps."""
        region = self.region
        inputs = [*region.arguments, *self.captured]
        slots = {value: number for number, value in enumerate(inputs)}
        constants: list[Array] = []
        ops: list[Op] = []
        for op in region.ops:
            if op.definition is creation.CONSTANT:
                slots[op.result] = len(inputs) + len(constants)
                constants.append(op.attributes["value"])
            else:
                ops.append(op)
        for op in ops:
            for value in op.results:
                slots[value] = len(slots)
        self._tail = [*constants, *[None] * (len(slots) - len(inputs) - len(constants))]
        self._returns = [slots[value] for value in region.returns]
        first_dead = len(inputs) + len(constants)
        kept = {*self._returns, *range(len(inputs), first_dead)}
        self._steps = _plan_steps(ops, slots, kept, self._plans)
        return self._steps

    def run(self, frame: list[Any]) -> tuple[Array, ...]:
        """Return the region's results; ``frame`` (arguments, then captured arrays) is used up."""
        steps = self._prepare() if self._steps is None else self._steps
        frame += self._tail
        ndarray = np.ndarray
        op = None
        try:
            for op, evaluate, read, attributes, regions, outputs, dead in steps:  # noqa: B007 - the handler's
                bound = (
                    [BoundRegion(p, [frame[slot] for slot in captured]) for p, captured in regions] if regions else ()
                )
                results = evaluate(read(frame), attributes, bound)
                for (slot, dtype), result in zip(outputs, results, strict=True):
                    exact = result.__class__ is ndarray and result.dtype == dtype
                    frame[slot] = result if exact else _exact(result, dtype)
                for slot in dead:
                    frame[slot] = None
        except Exception as error:
            _add_place(error, op)
            raise
        return tuple([frame[slot] for slot in self._returns])


def _plan_steps(ops: list[Op], slots: dict[Value, int], kept: set[int], plans: Plans) -> list[Step]:
    """Return the steps of ``ops``, each with the slots that nothing needs after it."""
    steps: list[Step] = []
    needed = set(kept)
    for op in reversed(ops):
        regions = [_plan_region(region, slots, plans.inner(op)) for region in op.regions]
        inputs = [slots[value] for value in op.operands]
        outputs = [(slots[v], v.type.dtype if isinstance(v.type, TensorType) else None) for v in op.results]
        touched = [*inputs, *[slots[v] for v in op.results]]
        for _, captured in regions:
            touched += captured
        dead = [] if needed.issuperset(touched) else [slot for slot in dict.fromkeys(touched) if slot not in needed]
        needed.update(dead)
        steps.append((op, plans.rule(op), _reader(inputs), plans.attributes(op), regions, outputs, dead))
    steps.reverse()
    return steps


def _plan_region(region: Region, slots: dict[Value, int], plans: Plans) -> tuple[Plan, list[int]]:
    plan = Plan(region, plans)
    return plan, [slots[value] for value in plan.captured]


def _exact(result: Any, dtype: np.dtype | None) -> Any:
    """Return a result as a plain array of exactly the dtype; what is not a tensor stays as it is."""
    return result if dtype is None else np.asarray(result, dtype)


def _add_place(error: Exception, op: Op | None) -> None:
    """Say, once, which op an error comes from and which line of the user's wrote it."""
    if isinstance(error, NumhloError) and error.where is not None:
        return  # it says so itself
    if op is not None and not getattr(error, "__notes__", None):
        error.add_note(f"while running {op!r} from {op.location.describe()}")


class Interpreter:
    """A function made ready to run any number of times; it must not be changed meanwhile.

    Parameters
    ----------
    function : Function
    plans : Plans, optional
        Says how ops are run; by their definitions without it.

    Examples
    --------
    >>> Interpreter(Function("nothing"))([])
    []
    """

    __slots__ = ("_plan", "function")

    def __init__(self, function: Function, plans: Plans | None = None) -> None:
        self.function = function
        self._plan = Plan(function.body, plans or Plans())

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the function's results on ``arrays``."""
        expected = self.function.argument_types
        if len(arrays) != len(expected):
            raise InternalError(f"{self.function.name} takes {len(expected)} arrays, not {len(arrays)}")
        try:
            with np.errstate(all="ignore"):
                return list(self._plan.run(list(arrays)))
        except RecursionError as error:
            if isinstance(error, NumhloError):
                raise
            raise UnsupportedError(
                f"@{self.function.name} calls functions inside functions too deep for the interpreter",
                where=capture_location(),
                why="it goes as deep as they do, and Python allows it no more",
                fix="call run, which compiles; or allow more by sys.setrecursionlimit",
            ) from None


def interpret(function: Function, arrays: Sequence[Array]) -> list[Array]:
    """Return a function's results, computed op by op.

    Parameters
    ----------
    function : Function
    arrays : sequence of numpy.ndarray
        One an argument, of exactly the argument's shape and dtype.

    Returns
    -------
    list of numpy.ndarray
        They may alias each other, or ``arrays``.

    Raises
    ------
    UnsupportedError
        If an op has no meaning here, such as a custom call that nobody registered.
    """
    return Interpreter(function)(arrays)


def evaluate_op(op: Op, environment: Mapping[Value, Array]) -> Sequence[Array]:
    """Return the results of one op.

    Parameters
    ----------
    op : Op
        Its regions may use values of ``environment``.
    environment : mapping from Value to numpy.ndarray

    Raises
    ------
    KeyError
        If the environment lacks a value.
    """
    plans = Plans()
    arrays = [environment[value] for value in op.operands]
    bound = []
    for region in op.regions:
        plan = Plan(region, plans)
        bound.append(BoundRegion(plan, [environment[value] for value in plan.captured]))
    with np.errstate(all="ignore"):
        results = op.definition.evaluate(arrays, plans.attributes(op), bound)
        return [
            _exact(result, value.type.dtype if isinstance(value.type, TensorType) else None)
            for value, result in zip(op.results, results, strict=True)
        ]
