"""Values that functions called outside `jit` make while `debug_nans` or `debug_infs` hold: NaN and infinity of numbers.

Jitted functions are checked op by op, as `numhlo.jit(check=...)` does; here a function is looked at as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import InvalidValueError
from numhlo.switches import value_of
from numhlo.tracer.trees.pytrees import tree_leaves

TESTS: dict[str, Callable[..., Any]] = {"nan": np.isnan, "inf": np.isinf}


def refuse_invalid(name: str, arguments: Any, result: Any) -> None:
    """Raise an error if a function makes what is checked for, of arguments that have none.

    Parameters
    ----------
    name : str
        The function's.
    arguments, result : pytree

    Raises
    ------
    InvalidValueError
    """
    checks = value_of("check")
    for kind, test in TESTS.items():
        if kind in checks and _has(test, result) and not _has(test, arguments):
            found = next(x for x in tree_leaves(result) if _is_float(x) and test(x).any())
            raise InvalidValueError(
                f"{name}: {kind} in a {found.dtype}[{','.join(map(str, found.shape))}]",
                where=capture_location(),
                why=f"it is checked for {kind}",
            )


def _is_float(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic) and np.issubdtype(x.dtype, np.inexact)


def _has(test: Callable[..., Any], tree: Any) -> bool:
    leaves = (np.asarray(x) if isinstance(x, float | complex) else x for x in tree_leaves(tree))
    return any(_is_float(x) and bool(test(x).any()) for x in leaves)
