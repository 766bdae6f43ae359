"""`jax.image`: pictures, and arrays of any number of dimensions, at another size."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError

__all__ = ["ResizeMethod", "resize"]


class ResizeMethod(enum.Enum):
    """How elements between those of the input are made."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4


_SPELLINGS = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(["linear", "bilinear", "trilinear", "triangle"], ResizeMethod.LINEAR),
    **dict.fromkeys(["cubic", "bicubic", "tricubic"], ResizeMethod.CUBIC),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
}


def resize(image: Any, shape: Sequence[int], method: str | ResizeMethod, antialias: bool = True) -> Any:
    """Return an array resampled to another shape, axis by axis.

    Parameters
    ----------
    image : array
        Integers become floats, unless the method is ``"nearest"``.
    shape : sequence of int
        As many extents as the array has dimensions; equal ones leave an axis as it is.
    method : str or ResizeMethod
        ``"nearest"``, ``"linear"``, ``"cubic"`` (Keys' kernel), ``"lanczos3"``, ``"lanczos5"``; JAX's synonyms, too.
    antialias : bool, optional
        Widen the kernel where an axis shrinks.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If there is no such method.
    ShapeError
        If the number of extents is another than that of dimensions.

    Notes
    -----
    R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981; pixels are centered at halves.

    Examples
    --------
    >>> resize(np.array([0.0, 1.0]), (4,), "linear")
    Array([0.  , 0.25, 0.75, 1.  ])
    """
    image = jnp.asarray(image)
    if len(shape) != image.ndim:
        raise ShapeError(
            f"resize of an array with {image.ndim} dimensions to {len(shape)} extents",
            where=capture_location(),
            fix="give one extent for each axis; equal ones leave it as it is",
        )
    found = _method(method)
    changed = [(axis, n) for axis, n in enumerate(shape) if n != image.shape[axis]]
    if found is ResizeMethod.NEAREST:
        for axis, n in changed:
            image = jnp.take(image, _nearest(image.shape[axis], n), axis=axis)
        return image
    if not jnp.issubdtype(image.dtype, np.inexact):
        image = image.astype(np.float64)
    for axis, n in changed:
        weights = _weights(image.shape[axis], n, found, antialias).astype(image.dtype)
        image = jnp.moveaxis(jnp.tensordot(image, weights, axes=([axis], [0])), -1, axis)
    return image


def _method(method: str | ResizeMethod) -> ResizeMethod:
    if isinstance(method, ResizeMethod):
        return method
    if method not in _SPELLINGS:
        raise ArgumentError(
            f"resize: no method {method!r}", where=capture_location(), fix=f"choose one of {', '.join(_SPELLINGS)}"
        )
    return _SPELLINGS[method]


def _nearest(old: int, new: int) -> Any:
    return (2 * np.arange(new) + 1) * old // (2 * new)


def _weights(old: int, new: int, method: ResizeMethod, antialias: bool) -> np.ndarray:
    """Return the weight of each old element in each new one, of shape ``(old, new)``; those of one sum to 1."""
    step = old / new
    width = max(step, 1.0) if antialias else 1.0
    places = (np.arange(new) + 0.5) * step - 0.5
    weights = _KERNELS[method](np.abs(places[None, :] - np.arange(old)[:, None]) / width)
    found: np.ndarray = weights / weights.sum(axis=0, keepdims=True)
    return found


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, 1.0 - x)


def _keys(x: np.ndarray) -> np.ndarray:
    near: np.ndarray = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x >= 2.0, 0.0, np.where(x >= 1.0, far, near))


def _lanczos(radius: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.where(x > radius, 0.0, np.sinc(x) * np.sinc(x / radius))


_KERNELS: dict[ResizeMethod, Callable[[np.ndarray], np.ndarray]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _keys,
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
}
