"""`jax.image`: pictures, and arrays of any number of dimensions, at another size."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]


class ResizeMethod(enum.Enum):
    """How elements between those of the input are made."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6


_SPELLINGS = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(["linear", "bilinear", "trilinear", "triangle"], ResizeMethod.LINEAR),
    **dict.fromkeys(["cubic", "bicubic", "tricubic"], ResizeMethod.CUBIC),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(["cubic-pytorch", "bicubic-pytorch"], ResizeMethod.CUBIC_PYTORCH),
    "area": ResizeMethod.AREA,
}


def resize(
    image: Any, shape: Sequence[int], method: str | ResizeMethod, antialias: bool = True, precision: Any = None
) -> Any:
    """Return an array resampled to another shape, axis by axis.

    Parameters
    ----------
    image : array
        Integers become floats, unless the method is ``"nearest"``.
    shape : sequence of int
        As many extents as the array has dimensions; equal ones leave an axis as it is.
    method : str or ResizeMethod
        ``"nearest"``, ``"linear"``, ``"cubic"`` (Keys' kernel), ``"lanczos3"``, ``"lanczos5"``, ``"area"`` (means of
        what an element covers), ``"cubic-pytorch"`` (without ``antialias``, PyTorch's kernel, and edges go on); JAX's
        synonyms, too.
    antialias : bool, optional
        Widen the kernel where an axis shrinks.
    precision : optional
        Accepted and ignored: products are exact to their dtype.

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
    Array([0.  , 0.25, 0.75, 1.  ], dtype=float...)
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


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Any:
    """Return an array resampled so that what was at ``x`` is at ``x * scale + translation``, zeros around it.

    Parameters
    ----------
    image : array
        Integers become floats.
    shape : sequence of int
        The result's extents.
    spatial_dims : sequence of int
        The axes that are resampled.
    scale, translation : array
        One number for each of them; they may be traced.
    method : str or ResizeMethod
        As that of `resize`, but not ``"nearest"``.
    antialias : bool, optional
        Widen the kernel where an axis shrinks.
    precision : optional
        Accepted and ignored.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If there is no such method.
    ShapeError
        If the number of extents is another than that of dimensions.

    Examples
    --------
    >>> scale_and_translate(np.array([1.0, 2.0]), (3,), (0,), np.array([1.0]), np.array([1.0]), "linear")
    Array([0., 1., 2.], dtype=float...)
    """
    image, found = jnp.asarray(image), _method(method)
    if found is ResizeMethod.NEAREST:
        raise ArgumentError(
            "scale_and_translate: the nearest element is no weighted sum",
            where=capture_location(),
            fix="use resize, or another method",
        )
    if len(shape) != image.ndim:
        raise ShapeError(
            f"scale_and_translate of an array with {image.ndim} dimensions to {len(shape)} extents",
            where=capture_location(),
            fix="give one extent for each axis",
        )
    if not jnp.issubdtype(image.dtype, np.inexact):
        image = image.astype(np.float64)
    scale, translation = jnp.asarray(scale), jnp.asarray(translation)
    for k, axis in enumerate(spatial_dims):
        weights = _moved_weights(image.shape[axis], shape[axis], scale[k], translation[k], found, antialias)
        image = jnp.moveaxis(jnp.tensordot(image, weights.astype(image.dtype), axes=([axis], [0])), -1, axis)
    return image


def _moved_weights(old: int, new: int, scale: Any, translation: Any, method: ResizeMethod, antialias: bool) -> Any:
    """Return the weight of each old element in each new one; new ones beyond the old have none."""
    step = 1.0 / scale
    width = jnp.maximum(step, 1.0) if antialias else 1.0
    places = (np.arange(new) + 0.5 - translation) * step - 0.5
    goes_on = method is ResizeMethod.CUBIC_PYTORCH and not antialias
    if method is ResizeMethod.AREA:
        weights = _overlaps(jnp, old, (np.arange(new) - translation) * step, step)
    elif goes_on:
        weights = _with_edges(jnp, old, places)
    else:
        weights = _KERNELS[method](jnp, abs(places[None, :] - np.arange(old)[:, None]) / width)
    total = jnp.sum(weights, axis=0, keepdims=True)
    small = abs(total) <= 1000 * np.finfo(np.float32).eps
    weights = jnp.where(small, 0.0, weights / jnp.where(small, 1.0, total))
    inside = (places >= -0.5) & (places <= old - 0.5)
    return weights if goes_on else jnp.where(inside[None, :], weights, 0.0)


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
    if method is ResizeMethod.AREA:
        weights = _overlaps(np, old, np.arange(new) * step, step)
    elif method is ResizeMethod.CUBIC_PYTORCH and not antialias:
        weights = _with_edges(np, old, places)
    else:
        weights = _KERNELS[method](np, np.abs(places[None, :] - np.arange(old)[:, None]) / width)
    found: np.ndarray = weights / weights.sum(axis=0, keepdims=True)
    return found


def _overlaps(n: Any, old: int, begins: Any, step: Any) -> Any:
    """Return how much of each old element each new one covers, from where it begins."""
    edges = np.arange(old)[:, None]
    return n.maximum(0.0, n.minimum((begins + step)[None, :], edges + 1.0) - n.maximum(begins[None, :], edges))


def _with_edges(n: Any, old: int, places: Any) -> Any:
    """Return PyTorch's weights: the first and the last element go on beyond the edges, as far as the kernel sees."""
    reach = 2
    expanded = np.arange(-reach, old + reach)
    folded = (np.clip(expanded, 0, old - 1) == np.arange(old)[:, None]).astype(np.float64)
    return folded @ _sharp_keys(n, abs(places[None, :] - expanded[:, None]))


def _triangle(n: Any, x: Any) -> Any:
    return n.maximum(0.0, 1.0 - x)


def _cubic(a: float) -> Callable[[Any, Any], Any]:
    """Return the kernel of cubic convolution with a slope of ``a`` at distance 1: Keys has -0.5."""

    def kernel(n: Any, x: Any) -> Any:
        near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
        far = ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
        return n.where(x >= 2.0, 0.0, n.where(x >= 1.0, far, near))

    return kernel


_keys, _sharp_keys = _cubic(-0.5), _cubic(-0.75)


def _lanczos(radius: int) -> Callable[[Any, Any], Any]:
    return lambda n, x: n.where(x > radius, 0.0, n.sinc(x) * n.sinc(x / radius))


_KERNELS: dict[ResizeMethod, Callable[[Any, Any], Any]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _keys,
    ResizeMethod.CUBIC_PYTORCH: _keys,
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
}
"""Functions of a namespace and distances: NumPy's for those that are known, `jax.numpy` for traced ones."""
