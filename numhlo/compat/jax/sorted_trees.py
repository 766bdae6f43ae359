"""Functions of pytrees under JAX's rules: dicts come back with their keys sorted."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numhlo.tracer.core.semantics import immutable_arrays


def with_sorted_keys(module: ModuleType) -> dict[str, Any]:
    """Return a module's public names, its functions run under JAX's rules.

    Examples
    --------
    >>> from numhlo import tree
    >>> with_sorted_keys(tree)["map"](lambda x: -x, {"b": 1, "a": 2})
    {'a': -2, 'b': -1}
    """
    values = {name: getattr(module, name) for name in module.__all__}
    return {name: value if isinstance(value, type) else _sorted(value) for name, value in values.items()}


def _sorted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        with immutable_arrays():
            return function(*args, **kwargs)

    return public
