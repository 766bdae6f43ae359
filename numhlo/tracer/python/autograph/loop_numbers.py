"""The known numbers of a `while` loop, ``t += dt``, run by themselves: how many iterations are left, and their ends.

An iteration is traced with its numbers as arguments. What computes the next numbers and the test, where no array has a
part in it, becomes a Python function: the arithmetic of the graph on bools and 64-bit integers and floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import comparison, control_flow, conversion, creation, elementwise
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.semantics import strict_integer_powers
from numhlo.tracer.core.trace import Trace, Tracer
from numhlo.tracer.python.autograph.loop_state import LoopState
from numhlo.tracer.python.autograph.python_state import PythonState
from numhlo.tracer.python.autograph.variables import Variables

MOST_ITERATIONS = 1_000_000
"""How many iterations the numbers are followed for: about a second."""

NUMBERS = (bool, int, float)

_LARGEST = {"b": "2", "i": "4611686018427387904", "f": "1e308"}
"""Up to where numbers may grow, by kind: Python's integers have no end, those of the graph have 64 bits."""

_TYPES = {np.dtype(np.bool_): "bool", np.dtype(np.int64): "int", np.dtype(np.float64): "float"}

_SIGNS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}

_ANY: dict[Any, str] = {
    elementwise.ADD: "{} + {}",
    elementwise.SUBTRACT: "{} - {}",
    elementwise.MULTIPLY: "{} * {}",
    elementwise.NEGATE: "-{}",
    elementwise.ABS: "abs({})",
    elementwise.MINIMUM: "min({}, {})",
    elementwise.MAXIMUM: "max({}, {})",
}
_BOOLS: dict[Any, str] = {elementwise.AND: "{} and {}", elementwise.OR: "{} or {}", elementwise.NOT: "not {}"}


class _NotNumbersError(Exception):
    """More than the loop's numbers is needed."""


def run_alone(
    test: Callable[..., Any], body: Callable[..., Any], variables: Variables, since: int
) -> tuple[int, dict[str, Any]] | None:
    """Return how many iterations of a loop are left, and its numbers after them; None where that can't be told.

    Parameters
    ----------
    test, body : callable
        The loop's, functions of the variables' values.
    variables : Variables
        As they are now.
    since : int
        Numbers of cells that the iterations before have made are at least so.
    """
    numbers = {n: v for n, v in zip(variables.names, variables.values, strict=True) if type(v) in NUMBERS}
    state = PythonState([*variables.values, test, body], variables.attributes())
    if not numbers or state.draws or not state.whole:
        return None
    try:
        with strict_integer_powers.bound(True):
            program = _program(test, body, variables, numbers, since)
            return None if state.has_changed() else _run(*program, numbers)
    except Exception:  # noqa: BLE001 - whatever the reason: the next iteration, as Python runs it, has its say
        return None
    finally:
        state.put_back()


def _program(
    test: Callable[..., Any], body: Callable[..., Any], variables: Variables, numbers: Mapping[str, Any], since: int
) -> tuple[str, dict[str, Any], list[str]]:
    """Return the source of a loop of the numbers, its constants, and the names of those it follows."""
    state = LoopState(variables, "a while", body, since=since)
    with new_trace(closed=False) as trace, state.unknown() as values:
        given = dict(zip(variables.names, values, strict=True))
        source = _Source(trace, {trace.read(given[name]): f"n{k}" for k, name in enumerate(numbers)})
        after = dict(zip(variables.names, body(*given.values()), strict=True))
        holds = source.of(trace.read(test(*after.values())))
    ends, followed = [], []
    for k, name in enumerate(numbers):
        try:
            ends.append(source.of_number(after[name], type(numbers[name])))
            followed.append(k)
        except _NotNumbersError:
            pass
    if not source.used <= {f"n{k}" for k in followed}:
        raise _NotNumbersError
    names = [f"n{k}" for k in followed]
    limits = [_LARGEST[{bool: "b", int: "i", float: "f"}[type(v)]] for v in numbers.values()]
    lines = [
        *source.lines,
        f"{', '.join(names)}, = {', '.join(ends)},",
        *[f"if not -{limits[k]} < n{k} < {limits[k]}: return None" for k in followed],
        f"if not {holds}: return k, ({', '.join(names)},)",
    ]
    head = f"def run({', '.join(f'n{k}' for k in range(len(numbers)))}):\n for k in range(1, {MOST_ITERATIONS + 1}):\n"
    order = list(numbers)
    return head + "".join(f"  {line}\n" for line in lines), source.constants, [order[k] for k in followed]


def _run(
    source: str, constants: dict[str, Any], followed: list[str], numbers: Mapping[str, Any]
) -> tuple[int, dict[str, Any]] | None:
    exec(compile(source, "<the numbers of a loop>", "exec"), constants)  # noqa: S102 - of ops, no text of others
    found = constants["run"](*numbers.values())
    return None if found is None else (found[0], dict(zip(followed, found[1], strict=True)))


class _Source:
    """Lines of Python that compute values of a trace from numbers.

    Parameters
    ----------
    trace : Trace
    names : dict
        What the numbers are called, by their values.

    Attributes
    ----------
    lines : list of str
    constants : dict
        By name.
    used : set of str
        The numbers that are read.
    """

    def __init__(self, trace: Trace, names: dict[Value, str]) -> None:
        self._trace, self._names = trace, names
        self._numbers = frozenset(names.values())
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.used: set[str] = set()

    def of_number(self, x: Any, kind: type) -> str:
        """Return what holds a variable's next value, if it stays a number of its kind."""
        value = self._trace.read(x)
        is_number = type(x) is kind or (isinstance(x, Tracer) and x.weak and x.is_scalar)
        if not is_number or _TYPES.get(value.tensor.dtype) != kind.__name__:
            raise _NotNumbersError
        return self.of(value)

    def of(self, value: Value) -> str:
        """Return what holds a value."""
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = f"v{len(self._names)}"
            self._define(name, value)
        elif name in self._numbers:
            self.used.add(name)
        return name

    def _define(self, name: str, value: Value) -> None:
        if value.tensor.shape or value.tensor.dtype not in _TYPES:
            raise _NotNumbersError
        op = value.owner
        if isinstance(op, Op) and op.definition is creation.CONSTANT:
            self.constants[name] = op.attributes["value"].item()
        elif isinstance(op, Op):
            self.lines.append(f"{name} = {self._expression(op, op.results.index(value))}")
        else:
            raise _NotNumbersError

    def _expression(self, op: Op, number: int) -> str:
        definition = op.definition
        if definition is control_flow.IF:
            return self._choice(op.operands[0], *[region.returns[number] for region in op.regions])
        if definition is comparison.SELECT:
            return self._choice(*op.operands)
        operands = [self.of(v) for v in op.operands]
        if definition is conversion.CONVERT:
            return f"{_TYPES[op.result.tensor.dtype]}({operands[0]})"
        if definition is comparison.COMPARE:
            return f"{operands[0]} {_SIGNS[op.attributes['comparison_direction']]} {operands[1]}"
        is_bool = op.result.tensor.dtype.kind == "b"
        pattern = (_BOOLS if is_bool else _ANY).get(definition)
        if definition is elementwise.DIVIDE and op.result.tensor.dtype.kind == "f":
            pattern = "{} / {}"
        if pattern is None:
            raise _NotNumbersError
        return pattern.format(*operands)

    def _choice(self, test: Value, then: Value, other: Value) -> str:
        return f"{self.of(then)} if {self.of(test)} else {self.of(other)}"
