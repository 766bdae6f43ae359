"""Jacobians and Hessians: one derivative for each unit vector, all of them at once by `vmap`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.building import (
    FUNCTIONS,
    asarray,
    full_of,
    require_callable,
    reshape_to,
    run_traced,
    shape_of,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
    vmap,
)
from numhlo.tracer.building.derivatives import (
    chosen_places,
    ends_its_blocks,
    is_differentiable,
    is_float0,
    jvp,
    marked,
    opened,
    require_inexact,
    sealed,
    sealed_pair,
    transformation,
    vjp,
    weak_leaves,
)

P = ParamSpec("P")


def _basis(leaves: Sequence[Any]) -> list[Any]:
    """Return, for each leaf, all unit vectors of the whole tree's space, restricted to that leaf."""
    sizes = [int(np.prod(shape_of(x), dtype=np.int64)) for x in leaves]
    total, offset, parts = sum(sizes), 0, []
    for leaf, size in zip(leaves, sizes, strict=True):
        block = FUNCTIONS[np.eye](total, size, -offset, asarray(leaf).dtype)
        parts.append(reshape_to(asarray(block), (total, *shape_of(leaf))))
        offset += size
    return parts


def _split_columns(block: Any, leaves: Sequence[Any], axis: int) -> list[Any]:
    """Cut the axis of unit vectors back into the leaves' shapes."""
    parts, offset = [], 0
    for leaf in leaves:
        size = int(np.prod(shape_of(leaf), dtype=np.int64))
        index = (slice(None),) * axis + (slice(offset, offset + size),)
        part = block[index]
        parts.append(part.reshape(part.shape[:axis] + tuple(shape_of(leaf)) + part.shape[axis + 1 :]))
        offset += size
    return parts


def jacfwd(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """Return a function that gives ``fun``'s Jacobian, one column at a time by forward mode.

    Parameters
    ----------
    fun : callable
    argnums : int or sequence of int, optional
        Which positional arguments to differentiate with respect to.
    has_aux : bool, optional
        Whether it returns a pair of results and anything.
    holomorphic : bool, optional
        Needed for complex arguments.

    Returns
    -------
    callable
        Same arguments; each result's array becomes one of its shape and then the argument's: cheap for few inputs.

    Raises
    ------
    DTypeError
        When it is called, if an argument is not of floats.

    Examples
    --------
    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]])
    """
    require_callable(fun, "jacfwd: fun")
    return _jacobian(fun, argnums, has_aux, holomorphic, allow_int=False, forward=True)


def jacrev(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]:
    """Return a function that gives ``fun``'s Jacobian, one row at a time by reverse mode.

    Parameters
    ----------
    fun, argnums, has_aux, holomorphic : optional
        As those of `jacfwd`.
    allow_int : bool, optional
        Let integer arguments pass; there are no slopes by them, but zeros.

    Returns
    -------
    callable
        As that of `jacfwd`: cheap for few outputs.

    Raises
    ------
    DTypeError
        When it is called, if an argument is not of floats.

    Examples
    --------
    >>> jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]])
    """
    require_callable(fun, "jacrev: fun")
    return _jacobian(fun, argnums, has_aux, holomorphic, allow_int, forward=False)


jacobian = jacrev


def _jacobian(
    fun: Callable[P, Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    *,
    forward: bool,
) -> Callable[P, Any]:
    @functools.wraps(fun)
    @ends_its_blocks
    def jacobian_of(*args: P.args, **kwargs: P.kwargs) -> Any:
        places = chosen_places(argnums, len(args))
        chosen = tuple(args[k] for k in places)
        leaves, tree = tree_flatten(chosen)
        require_inexact(leaves, "jacfwd" if forward else "jacrev", holomorphic, allow_int)

        @functools.wraps(fun)
        def of_leaves(*values: Any) -> Any:
            given = list(args)
            for k, v in zip(places, tree_unflatten(tree, values), strict=True):
                given[k] = v
            result = run_traced(fun, *given, **kwargs)
            return sealed_pair(result, "jacfwd" if forward else "jacrev") if has_aux else result

        with transformation() as finish:
            outputs, aux, blocks = (_columns if forward else _rows)(of_leaves, leaves, has_aux)
            _require_kind(tree_leaves(outputs), holomorphic, forward)
            out_tree = tree_structure(outputs)
            per_output = [tree_unflatten(tree, row) for row in blocks]
            chosen_rows = [row[0] if isinstance(argnums, int) else row for row in per_output]
            result = tree_unflatten(out_tree, chosen_rows)
            return opened(finish((result, aux) if has_aux else result))

    return jacobian_of


def _require_kind(outputs: Sequence[Any], holomorphic: bool, forward: bool) -> None:
    """Raise where results are real and should not be, or the other way round."""
    for x in outputs:
        is_complex = x.dtype.kind == "c"
        if is_complex != holomorphic and not (forward and is_complex):
            name = "jacfwd" if forward else "jacrev"
            raise DTypeError(
                f"{name}(holomorphic={holomorphic}) of a function that returns {x.dtype}",
                where=capture_location(),
                why="holomorphic functions have complex values; others have rows of real results",
                fix="leave out holomorphic=True" if holomorphic else "use jacfwd, or return real and imaginary parts",
            )


def _columns(fun: Callable[..., Any], leaves: Sequence[Any], has_aux: bool) -> tuple[Any, Any, list[list[Any]]]:
    """Push all unit vectors forward at once; what does not depend on them is computed once."""
    arrays = marked([asarray(x) for x in leaves], weak_leaves(leaves))

    def push(*tangents: Any) -> Any:
        pushed = jvp(fun, arrays, tangents, has_aux)
        columns = zip(tree_leaves(pushed[0]), tree_leaves(pushed[1]), strict=True)
        moved = [full_of(0, shape_of(y), y.dtype) if is_float0(t) else t for y, t in columns]
        return (pushed[0], sealed(pushed[2]) if has_aux else None), moved

    basis = _basis(leaves)
    primals, columns = vmap(push, out_axes=(0, -1))(*basis)
    if shape_of(basis[0])[0]:
        value, aux = tree_map(lambda x: x[0], primals)
    else:
        result = fun(*arrays)
        value, aux = result if has_aux else (result, None)
    return value, aux, [marked(_split_columns(c, leaves, c.ndim - 1), weak_leaves([c] * len(leaves))) for c in columns]


def _rows(fun: Callable[..., Any], leaves: Sequence[Any], has_aux: bool) -> tuple[Any, Any, list[list[Any]]]:
    """Pull all unit vectors back at once; integers have no slopes, and are constants."""
    arrays = marked([asarray(x) for x in leaves], weak_leaves(leaves))
    moving = [k for k, x in enumerate(arrays) if is_differentiable(x.dtype)]

    def of_moving(*values: Any) -> Any:
        given = dict(zip(moving, values, strict=True))
        return fun(*[given.get(k, x) for k, x in enumerate(arrays)])

    if has_aux:
        outputs, pull, aux = vjp(of_moving, *[arrays[k] for k in moving], has_aux=True)
        aux = sealed(aux)
    else:
        (outputs, pull), aux = vjp(of_moving, *[arrays[k] for k in moving]), None
    out_leaves, out_tree = tree_flatten(outputs)
    rows = vmap(lambda *c: pull(tree_unflatten(out_tree, c)))(*_basis(out_leaves))
    weak = [weak_leaves([r] * len(out_leaves)) for r in rows]
    cut = {k: marked(_split_columns(r, out_leaves, 0), w) for k, r, w in zip(moving, rows, weak, strict=True)}
    blocks = [
        [cut[k][j] if k in cut else np.zeros((*shape_of(y), *shape_of(x)), x.dtype) for k, x in enumerate(arrays)]
        for j, y in enumerate(out_leaves)
    ]
    return outputs, aux, blocks


def hessian(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """Return a function that gives the matrix of second derivatives: forward over reverse.

    Parameters
    ----------
    fun, argnums, has_aux, holomorphic : optional
        As those of `jacfwd`.

    Returns
    -------
    callable
        Same arguments; each result's array becomes one of its shape and then twice the argument's.

    Raises
    ------
    DTypeError
        When it is called, if an argument is not of floats.

    Examples
    --------
    >>> hessian(lambda x: (x**3).sum())(np.array([1.0, 2.0]))
    Array([[ 6.,  0.],
           [ 0., 12.]])
    """
    require_callable(fun, "hessian: fun")
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)
