"""Auxiliary results that are no arrays: texts, functions and other objects, which no graph holds.

A function with ``has_aux=True`` returns a pair of what is differentiated and anything. What can't be traced of it is
sealed into containers without leaves while the graph is made, and taken out of them when the transformation returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.tracer.transformations.derivative_arguments import require_pair
from numhlo.tracer.trees.pytree_registration import register_pytree_node
from numhlo.tracer.trees.pytrees import tree_map


class Sealed:
    """Holds an object, as a container without leaves."""

    def __init__(self, value: Any) -> None:
        self.value = value


register_pytree_node(Sealed, lambda sealed: ((), sealed), lambda sealed, _: sealed)


def _is_traceable(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind not in "OSU"
    return isinstance(leaf, bool | int | float | complex) or hasattr(leaf, "dtype") or hasattr(leaf, "__array__")


def sealed(tree: Any) -> Any:
    """Return a pytree whose leaves that can't be traced are sealed."""
    return tree_map(lambda leaf: leaf if _is_traceable(leaf) else Sealed(leaf), tree)


def opened(tree: Any) -> Any:
    """Return a pytree with what was sealed as its leaves again."""
    return tree_map(lambda x: x.value if isinstance(x, Sealed) else x, tree, is_leaf=lambda x: isinstance(x, Sealed))


def sealed_pair(result: Any, name: str) -> tuple[Any, Any]:
    """Return the pair that a function with ``has_aux=True`` returns, its second part sealed.

    Raises
    ------
    ArgumentError
        If it is no pair.
    """
    value, aux = require_pair(result, name)
    return value, sealed(aux)
