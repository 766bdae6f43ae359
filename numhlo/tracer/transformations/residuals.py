"""What the forward half of reverse mode hands to the backward half: a pytree of arrays."""

from __future__ import annotations

from typing import Any

from numhlo.tracer.trees.pytree_registration import register_pytree_node


class Residuals:
    """Arrays, and what goes with them.

    Attributes
    ----------
    arrays : list
    static : tuple
        All that is no array: functions, structures, types.
    """

    def __init__(self, arrays: list[Any], static: tuple[Any, ...]) -> None:
        self.arrays, self.static = arrays, static


register_pytree_node(Residuals, lambda r: (r.arrays, r.static), lambda static, arrays: Residuals(list(arrays), static))
