"""Routines of BLAS and LAPACK that have no op here: they are called on the host, as they are, where that is safe.

What a routine returns is found out while tracing, by a call with arrays of the same shapes. It is safe where that call
leaves its arguments alone: what the routine would write into an array of the program's would be lost.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from numhlo.library.lax.callbacks import pure_callback
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import ShapeDtypeStruct, Tracer, tree_map


def call(routine: Any, name: str, args: Sequence[Any], kwargs: Mapping[Any, Any]) -> Any:
    """Call a routine on the host when the program runs.

    Parameters
    ----------
    routine : callable
        SciPy's wrapper.
    name : str
    args, kwargs
        Arrays, some of which are traced, and numbers.

    Raises
    ------
    UnsupportedError
        If the routine writes into its arguments, or a traced integer may say how much it returns.
    """
    values: dict[int | str, Any] = {**dict(enumerate(args)), **kwargs}
    traced = {key: x for key, x in values.items() if isinstance(x, Tracer)}
    if any(x.ndim == 0 and x.dtype.kind in "iub" for x in traced.values()):
        _refuse(name, "a traced integer may say how much it returns")
    samples = {key: _sample(x, k) for k, (key, x) in enumerate(traced.items())}
    kept = {key: x.copy() for key, x in samples.items()}
    found = _call(routine, values, tuple(samples), *samples.values())
    if any(x.tobytes() != kept[key].tobytes() for key, x in samples.items()):
        _refuse(name, "it writes into its arguments")
    types = tree_map(lambda x: ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype), found)
    on_host = functools.partial(_call, routine, values, tuple(traced))
    return pure_callback(on_host, types, *traced.values(), vmap_method="sequential")


def _call(routine: Any, values: Mapping[int | str, Any], places: Sequence[int | str], *arrays: Any) -> Any:
    """Call a routine with arrays in some places."""
    values = {**values, **dict(zip(places, arrays, strict=True))}
    numbered = [x for key, x in values.items() if isinstance(key, int)]
    return routine(*numbered, **{key: x for key, x in values.items() if isinstance(key, str)})


def _sample(x: Any, k: int) -> np.ndarray:
    """Return the k-th array that a routine takes: a matrix that is positive definite, indices, or numbers from 1 on."""
    numbers = np.arange(x.size).reshape(x.shape)
    if x.dtype.kind in "iub":
        return numbers.astype(x.dtype)
    if x.ndim == 2 and x.shape[0] == x.shape[1]:
        return np.diag(np.arange(x.shape[0]) + 1 + k).astype(x.dtype)
    return (numbers + 1 + k).astype(x.dtype)


def _refuse(name: str, why: str) -> NoReturn:
    raise UnsupportedError(
        f"{name} of scipy.linalg with traced arrays",
        where=capture_location(),
        why=f"it has no op here, and can't be called on the host: {why}",
        fix="use functions of scipy.linalg or numpy.linalg, or numhlo.pure_callback",
    )
