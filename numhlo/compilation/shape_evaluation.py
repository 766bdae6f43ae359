"""`eval_shape`: what a function would return, without computing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.compilation.jitted_function import JittedFunction
from numhlo.compilation.signature import Selection
from numhlo.tracer.core.callable_arguments import require_callable


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the shapes and dtypes of ``fun(*args, **kwargs)``; nothing is computed.

    Parameters
    ----------
    fun : callable
    *args, **kwargs
        Arrays, numbers, `ShapeDtypeStruct`, and pytrees of them.

    Returns
    -------
    pytree of ShapeDtypeStruct
        In the structure of the function's results.

    Examples
    --------
    >>> import numpy as np
    >>> eval_shape(lambda x: x.T @ x, np.ones((5, 3), np.float32))
    ShapeDtypeStruct(shape=(3, 3), dtype=float32)
    """
    require_callable(fun, "eval_shape: fun")
    return JittedFunction(fun, Selection(), Selection(), inline=False).eval_shape(*args, **kwargs)
