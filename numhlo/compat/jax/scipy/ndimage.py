"""`jax.scipy.ndimage`: `map_coordinates` with JAX's signature and modes; the filters of `numhlo.scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numhlo.scipy.ndimage as _wrapped
from numhlo.compat.jax.arrays import immutably as _immutably
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals())
_MODES = {"constant": "grid-constant", "wrap": "grid-wrap"}


@_immutably
def map_coordinates(input: Any, coordinates: Any, order: int, mode: str = "constant", cval: Any = 0.0) -> Any:
    """Return an array's values at coordinates between its elements; see `numhlo.scipy.ndimage.map_coordinates`.

    As in JAX, "constant" and "wrap" are SciPy's "grid-constant" and "grid-wrap".
    """
    return _wrapped.map_coordinates(input, coordinates, order=order, mode=_MODES.get(mode, mode), cval=cval)
