"""What two branches or two iterations leave otherwise: lists of other lengths, arrays of other shapes, other types.

The graph chooses between arrays of one shape in containers of one structure. Where a user's statement leaves anything
else, the error names the variable and says what to write; it must not speak of the functions that autograph makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ControlFlowTypeError, UnsupportedError
from numhlo.tracer.core.arguments import leaf_type
from numhlo.tracer.core.operands import Unsized
from numhlo.tracer.trees.pytrees import tree_flatten

BRANCHES = "which branch runs is not known while tracing"
ITERATIONS = "how many iterations run is not known while tracing"
BUFFER = (
    "write into an array of fixed size and count: buffer[count] = value; count += 1; or compute all values, and choose "
    "by a mask: np.where(condition, values, 0)"
)


def refuse_branches(what: str, names: Iterable[str], first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    """Raise where branches leave a variable as values that can't be chosen between.

    Parameters
    ----------
    what : str
        The statement: ``"an if"``.
    names : iterable of str
        The variables; ``""`` is what the branches return.
    first, second : mapping
        Their values after either branch.

    Raises
    ------
    ControlFlowTypeError
        If the structures or shapes differ.
    """
    for name in names:
        found = difference(first[name], second[name])
        if found is not None:
            one, two, is_length = found
            leaves = f"leaves {_named(name, first[name], is_length)} {'with' if is_length else 'as'}"
            does = f"{what} on a traced condition {leaves if name else 'gives'}"
            raise ControlFlowTypeError(
                f"{does} {one} in one branch, and {two} in the other",
                where=capture_location(),
                why=f"{BRANCHES}, and {_rule(is_length)}",
                fix=BUFFER if is_length else "make both alike, or choose elements by np.where",
            )


def refuse_selections(
    what: str, name: str, *values: Any, error: Callable[..., UnsupportedError] = UnsupportedError
) -> None:
    """Raise where values of a variable are what a mask selects, whose length a traced condition would decide."""
    if any(isinstance(x, Unsized) for x in values):
        does = f"leaves {name!r} as" if name else "gives"
        raise error(
            f"{what} on a traced condition {does} the elements that a mask selects",
            where=capture_location(),
            why="how many are left would depend on the condition, too, and lengths of arrays are part of the program",
            fix="keep the array, and a mask of what is left of it: keep = np.ones(len(x), bool) before; "
            "keep &= np.abs(x - x[keep].mean()) < limit in it; x[keep] where the elements are used",
        )


def refuse_iterations(what: str, names: Iterable[str], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Raise where an iteration leaves a variable as a value that can't be carried to the next.

    Parameters
    ----------
    what : str
        The statement: ``"a while"``.
    names : iterable of str
    before, after : mapping
        Their values before and after an iteration.

    Raises
    ------
    ControlFlowTypeError
        If the structures or shapes differ.
    """
    for name in names:
        found = difference(before[name], after[name])
        if found is not None:
            one, two, is_length = found
            raise ControlFlowTypeError(
                f"{what} on a traced condition changes {_named(name, before[name], is_length)} from {one} to {two}",
                where=capture_location(),
                why=f"{ITERATIONS}, and {_rule(is_length)}",
                fix=BUFFER if is_length else "keep its shape and structure in all iterations",
            )


def _named(name: str, value: Any, is_length: bool) -> str:
    return f"the {type(value).__name__} {name!r}" if is_length else repr(name)


def _rule(is_length: bool) -> str:
    what = "lengths and keys of containers" if is_length else "shapes and structures of values"
    return f"{what} are part of the program"


def difference(first: Any, second: Any) -> tuple[str, str, bool] | None:
    """Return how two values differ that the graph can't choose between, and whether by how many items they have.

    Examples
    --------
    >>> difference([1.0], [])
    ('1 item', '0 items', True)
    >>> difference(1.0, None)
    ('Python float', 'None', False)
    """
    leaves, tree = tree_flatten(first)
    others, other = tree_flatten(second)
    if tree != other:
        is_length = type(first) is type(second) and isinstance(first, list | dict)
        shown = [_items(x) if is_length else _shown(x) for x in (first, second)]
        if shown[0] == shown[1]:
            shown = [_items(x) if is_length else repr(t) for x, t in ((first, tree), (second, other))]
        return shown[0], shown[1], is_length
    for x, y in zip(leaves, others, strict=True):
        one, two = leaf_type(x), leaf_type(y)
        if one.tensor.shape != two.tensor.shape:
            return str(one), str(two), False
    return None


def _items(container: Any) -> str:
    if isinstance(container, dict):
        return f"the keys {list(container)}"
    return f"{len(container)} item{'s' * (len(container) != 1)}"


def _shown(x: Any) -> str:
    leaves, tree = tree_flatten(x)
    if x is None:
        return "None"
    if len(leaves) == 1 and leaves[0] is x:
        return str(leaf_type(x))
    return f"a {type(x).__name__} of {tree.num_leaves}"
