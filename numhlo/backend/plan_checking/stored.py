"""How many elements of a buffer launches store at most, by counting iterations; and which of them only copy."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from numhlo.backend.plan_checking.effects import POINTER, calls_in, effects_of, word_of
from numhlo.backend.program import Launch

COPY = re.compile(
    r"def \w+\(ctx, bufs, dims, lo, hi\):\n"
    r"    out0 = address\(bufs, 0\)\n    in0 = address\(bufs, 1\)\n"
    r"    for (i\d+) in range\(lo, hi\):\n"
    r"        (x\d+) = load_(\w+)\(in0, \1\)\n        store_\3\(out0, \1, \2\)\n"
)


@lru_cache(maxsize=8192)
def _copies(source: str) -> bool:
    return COPY.search(source) is not None


def copied_buffers(launch: Launch) -> tuple[int, int] | None:
    """Return the buffer that a launch copies, and the one that it copies it to, if that is all that it does."""
    if len(launch.buffers) == 2 and _copies(launch.kernel.source):
        return launch.buffers[1], launch.buffers[0]
    return None


def stored_elements(unit: Sequence[Launch], number: int) -> int | None:
    """Return how many elements of a buffer the kernels of some launches store at most; None if that can't be told."""
    counts = [_stored(launch, number) for launch in unit]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _stored(launch: Launch, number: int) -> int | None:
    """Return how many elements of a buffer a kernel stores at most; None if that can't be told."""
    places = [place for place, buffer in enumerate(launch.buffers) if buffer == number]
    effects = effects_of(launch.kernel.source)
    if effects.writes.isdisjoint(places):
        return 0
    body = _body(launch.kernel.source)
    names = {name for name, place in POINTER.findall(launch.kernel.source) if int(place) in places}
    known = {"lo": 0, "hi": launch.extent}
    return _count(body.body, names, known, launch.dims)


@lru_cache(maxsize=2048)
def _body(source: str) -> ast.FunctionDef:
    return next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))


def _count(body: Sequence[ast.stmt], names: set[str], known: dict[str, int], dims: Sequence[int]) -> int | None:
    """Return how often statements store through some pointers, each store being of one element."""
    total = 0
    for statement in body:
        count: int | None
        match statement:
            case ast.For(iter=ast.Call(args=ranged)):
                inner = _count(statement.body, names, known, dims)
                iterations = _iterations([_number(argument, known, dims) for argument in ranged])
                count = 0 if inner == 0 else None if inner is None or iterations is None else inner * iterations
            case ast.If():
                sides = [_count(each, names, known, dims) for each in (statement.body, statement.orelse)]
                count = None if None in sides else sum(side for side in sides if side is not None)
            case ast.While():
                count = 0 if _count(statement.body, names, known, dims) == 0 else None
            case _:
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    _learn(statement.targets[0].id, statement.value, known, dims)
                count = _stores(statement, names)
        if count is None:
            return None
        total += count
    return total


def _learn(name: str, value: ast.expr, known: dict[str, int], dims: Sequence[int]) -> None:
    number = _number(value, known, dims)
    if number is None:
        known.pop(name, None)
    else:
        known[name] = number


def _stores(statement: ast.stmt, names: set[str]) -> int | None:
    """Return how many elements a statement stores; None if it does something else with the pointers."""
    mentioned = sum(isinstance(node, ast.Name) and node.id in names for node in ast.walk(statement))
    stores = loads = 0
    for call in calls_in(statement):
        if call.args and isinstance(call.args[0], ast.Name) and call.args[0].id in names:
            stores += word_of(call).startswith("store_")
            loads += word_of(call).startswith("load_")
    is_given = isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in names
    return None if mentioned != stores + loads + is_given else stores


def _iterations(ranged: Sequence[int | None]) -> int | None:
    numbers = [number for number in ranged if number is not None]
    return len(range(*numbers)) if len(numbers) == len(ranged) else None


def _number(node: ast.expr, known: Mapping[str, int], dims: Sequence[int]) -> int | None:
    """Return what an expression is, if it does not depend on where a loop is."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name():
            return known.get(node.id)
        case ast.Call(func=ast.Name(id="number"), args=[_, ast.Constant(value=int(place))]):
            return dims[place] if place < len(dims) else None
        case ast.BinOp():
            left, right = _number(node.left, known, dims), _number(node.right, known, dims)
            return None if left is None or right is None else _combined(node.op, left, right)
    return None


def _combined(operator: ast.operator, left: int, right: int) -> int | None:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.BitAnd():
            return left & right
    return None
