"""What the functions around derivatives accept: arguments that have derivatives, results that can be differentiated.

This file checks and explains; `differentiating`, `jacobians` and `transposing` compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.tracer.core.operands import asarray, convert, full_of, shape_of
from numhlo.tracer.core.promotion import FLOAT0
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.differentiation.table import Dual, is_differentiable
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_leaves


def is_float0(leaf: Any) -> bool:
    """Return whether a tangent or cotangent says that there is none."""
    return getattr(leaf, "dtype", None) == FLOAT0


def no_slope(shape: tuple[int, ...]) -> np.ndarray:
    """Return what stands for the derivative by integers: zeros, or under JAX's rules what holds nothing."""
    return np.zeros(shape, FLOAT0 if are_arrays_immutable() else np.float64)


def require_inexact(leaves: Sequence[Any], name: str, holomorphic: bool = False, allow_int: bool = False) -> None:
    """Raise `DTypeError` where a leaf (anything with a dtype, or a number) has no derivative."""
    for leaf in leaves:
        dtype = leaf.dtype if isinstance(getattr(leaf, "dtype", None), np.dtype) else asarray(leaf).dtype
        if not is_differentiable(dtype) and not allow_int:
            raise DTypeError(
                f"{name}: the derivative with respect to an argument of dtype {dtype}",
                where=capture_location(),
                why="derivatives exist with respect to floats and complex numbers",
                fix="convert it (x.astype(float), 3.0 for 3), or leave it out of argnums",
            )
        if holomorphic and dtype.kind != "c":
            raise DTypeError(
                f"{name}(holomorphic=True) with an argument of dtype {dtype}",
                where=capture_location(),
                why="a holomorphic function's derivative is by a complex number",
                fix="convert it (x.astype(complex)), or leave out holomorphic=True",
            )
        if dtype.kind == "c" and not holomorphic and name == "jacfwd":
            raise DTypeError(
                f"{name} of a complex argument needs holomorphic=True",
                where=capture_location(),
                why="a function of complex numbers has one derivative only where it is holomorphic",
                fix=f"pass holomorphic=True to {name}, or take real and imaginary part for arguments",
            )


def require_pair(result: Any, name: str) -> Any:
    """Return a result, which must be a pair because of ``has_aux=True``."""
    if isinstance(result, tuple | list) and len(result) == 2:
        return tuple(result)
    raise ArgumentError(
        f"{name}(has_aux=True): the function returns a {type(result).__name__}",
        where=capture_location(),
        why="its result is taken for a pair: what is differentiated, and auxiliary results",
        fix="return a tuple of the two, or leave out has_aux=True",
    )


def chosen_places(argnums: int | Sequence[int], count: int) -> list[int]:
    """Return the positions of arguments that ``argnums`` names, counted from the first."""
    places = []
    given: Any = argnums  # whatever it is annotated as
    for number in given if isinstance(given, Iterable) and not isinstance(given, str) else (given,):
        if not isinstance(number, int | np.integer):
            raise ArgumentError(
                f"grad: argnums={argnums!r}",
                where=capture_location(),
                why="arguments are counted, not named",
                fix="give positions of arguments: ints",
            )
        if not -count <= number < count:
            raise ArgumentError(
                f"grad: argnums={number} for a call with {count} positional arguments",
                where=capture_location(),
                why="argnums counts positional arguments, and keyword arguments are taken for constants",
                fix="pass the argument by position",
            )
        places.append(int(number) % count)
    if len(set(places)) < len(places):
        raise ArgumentError(
            f"grad: argnums={argnums!r} names an argument twice",
            where=capture_location(),
            why="negative positions count from the end",
            fix="name it once",
        )
    return places


def require_scalar_result(result: Any, holomorphic: bool) -> Any:
    """Return the one array in what a function under `grad` returns: a float, complex if it is holomorphic.

    Raises
    ------
    ShapeError
        If the result is no scalar, or several arrays, or none.
    DTypeError
        If it is of integers, or complex where a real one is meant.
    """
    leaves = tree_leaves(result)
    if len(leaves) != 1:
        returned = "None" if result is None else f"a {type(result).__name__} of {len(leaves)} arrays"
        raise ShapeError(
            f"grad: the function must return a scalar, and it returns {returned}",
            where=capture_location(),
            why="a gradient is of one number",
            fix="end it with a return of the scalar"
            if result is None
            else "return one of them; has_aux=True lets it"
            " return a pair of a scalar and anything; vjp and jacrev take several results",
        )
    (value,) = leaves
    shape, dtype = shape_of(value), asarray(value).dtype
    if shape != ():
        raise ShapeError(
            f"grad: the function must return a scalar, got shape {list(shape)}",
            where=capture_location(),
            why="a gradient is of one number",
            fix="sum the result, or use jacrev or vjp",
        )
    if not is_differentiable(dtype):
        raise DTypeError(
            f"grad: the function must return a float, got {dtype}",
            where=capture_location(),
            why="integers and truth values do not change smoothly, so there is no slope",
            fix="compute it in floats: without comparisons, argmax, or conversions to integers",
        )
    if (dtype.kind == "c") != holomorphic:
        raise DTypeError(
            f"grad: the function must return a {'complex' if holomorphic else 'real'} scalar, got {dtype}",
            where=capture_location(),
            why="holomorphic functions have complex values; other functions are differentiated where they are real",
            fix="leave out holomorphic=True" if holomorphic else "return a float, or pass holomorphic=True",
        )
    return value


def arrays_like(tree: PyTreeDef, types: Sequence[TensorType], given: Any, what: str, of: str) -> list[Any]:
    """Return the leaves of tangents or cotangents, which must have a structure, shapes, and convertible dtypes."""
    leaves, structure = tree_flatten(given)
    if structure != tree:
        raise ArgumentError(
            f"{what} of structure {structure} for {of} of structure {tree}",
            where=capture_location(),
            why=f"there is one for each of the {of}, in the same containers",
            fix="give the same containers with the same keys; zeros where one does not matter",
        )
    arrays = []
    for leaf, wanted in zip(leaves, types, strict=False):
        array = full_of(0, shape_of(leaf), wanted.dtype) if is_float0(leaf) else asarray(leaf)
        if shape_of(array) != wanted.shape:
            raise ShapeError(
                f"{what} of shape {list(shape_of(array))} for {of} of shape {list(wanted.shape)}",
                where=capture_location(),
                why="it has a number for each element",
                fix="give one of the same shape",
            )
        if array.dtype.kind == "c" and wanted.dtype.kind != "c":
            raise DTypeError(
                f"{what} of dtype {array.dtype} for {of} of {wanted.dtype}",
                where=capture_location(),
                why="its imaginary part would be lost",
                fix="give its real part",
            )
        arrays.append(convert(array, wanted.dtype))
    return arrays


def dual_of(primal: Any, tangent: Any) -> Dual:
    """Return a primal with its tangent, which must have its shape and be convertible."""
    if is_float0(tangent):
        return Dual(asarray(primal), None)
    x, t = asarray(primal), asarray(tangent)
    if t.dtype.kind == "c" and x.dtype.kind != "c":
        raise DTypeError(
            f"jvp: a primal of dtype {x.dtype} with a tangent of dtype {t.dtype}",
            where=capture_location(),
            why="the tangent's imaginary part would be lost",
            fix="give its real part, or a complex primal",
        )
    if shape_of(x) != shape_of(t):
        raise ShapeError(
            f"jvp: a primal of shape {list(shape_of(x))} with a tangent of shape {list(shape_of(t))}",
            where=capture_location(),
            why="a tangent says in which direction each element of its primal goes",
            fix="give a tangent of the primal's shape",
        )
    return Dual(x, convert(t, x.dtype))
