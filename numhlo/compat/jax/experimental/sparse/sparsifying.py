"""`sparsify`: a function of dense arrays made one of sparse arrays, equation by equation of its jaxpr."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse import arithmetic
from numhlo.compat.jax.experimental.sparse.base import JAXSparse, refuse
from numhlo.compat.jax.experimental.sparse.bcoo import BCOO
from numhlo.compat.jax.experimental.sparse.bcsr import BCSR, bcsr_broadcast_in_dim, bcsr_concatenate, bcsr_dot_general
from numhlo.compat.jax.experimental.sparse.products import bcoo_conv_general_dilated, bcoo_dot_general
from numhlo.compat.jax.experimental.sparse.rearranging import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_squeeze,
    bcoo_transpose,
)
from numhlo.compat.jax.experimental.sparse.slicing import bcoo_dynamic_slice, bcoo_gather, bcoo_slice
from numhlo.compat.jax.jaxprs import ClosedJaxpr, DropVar, Literal
from numhlo.compat.jax.looking import trace_to_jaxpr
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.trees.pytrees import tree_flatten, tree_unflatten

LINEAR = frozenset({"conj", "copy", "imag", "neg", "real"})
"""Primitives that are linear, so that elements of one place need not be added first."""

OF_ZERO_ZERO = frozenset({
    "abs", "asin", "asinh", "atan", "atanh", "bessel_i1e", "convert_element_type", "expm1", "integer_pow", "log1p",
    "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
})  # fmt: skip
"""Primitives by which zero stays zero."""

DENSIFYING = frozenset({
    "acos", "acosh", "bessel_i0e", "cos", "cosh", "eq", "exp", "ge", "gt", "le", "lt", "log", "ne", "xor",
})  # fmt: skip
"""Primitives that make something of zeros."""


class Repeated(NamedTuple):
    """A dense array that has been broadcast, which is not done until its elements are needed.

    Attributes
    ----------
    array : Array
        With as many axes, of which those that are repeated have extent 1.
    shape : tuple of int
    """

    array: Any
    shape: tuple[int, ...]


Rule = Callable[..., Any]


def _slice(x: Any, *, start_indices: Any, limit_indices: Any, strides: Any = None, **_: Any) -> Any:
    return bcoo_slice(x, start_indices=start_indices, limit_indices=limit_indices, strides=strides)


def _reduce_sum(x: Any, *, axes: Sequence[int], **_: Any) -> Any:
    found = bcoo_reduce_sum(x, axes=axes)
    return found if found.ndim else found.data.sum(dtype=x.dtype)


def _reshape(x: Any, *, new_sizes: Sequence[int], **_: Any) -> Any:
    return bcoo_reshape(x, new_sizes=new_sizes)


def _broadcast(x: Any, *, shape: Any, broadcast_dimensions: Any, **_: Any) -> Any:
    of_kind = bcsr_broadcast_in_dim if isinstance(x, BCSR) else bcoo_broadcast_in_dim
    return of_kind(x, shape=shape, broadcast_dimensions=broadcast_dimensions)


def _dot(x: Any, y: Any, *, dimension_numbers: Any, preferred_element_type: Any = None, **_: Any) -> Any:
    product = bcsr_dot_general if isinstance(x, BCSR) else bcoo_dot_general
    return product(x, y, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type)


def _integer_pow(x: Any, *, y: int) -> Any:
    return arithmetic.power(x, y)


RULES: Mapping[str, Rule] = {
    "add": arithmetic.add,
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda *xs, dimension, **_: bcoo_concatenate(xs, dimension=dimension),
    "conv_general_dilated": bcoo_conv_general_dilated,
    "div": arithmetic.divide,
    "dot_general": _dot,
    "dynamic_slice": lambda x, *starts, slice_sizes, **_: bcoo_dynamic_slice(x, starts, slice_sizes),
    "gather": lambda x, at, *, dimension_numbers, slice_sizes, mode=None, **_: bcoo_gather(
        x, at, dimension_numbers, slice_sizes, mode=mode
    ),
    "integer_pow": _integer_pow,
    "mul": arithmetic.multiply,
    "reduce_sum": _reduce_sum,
    "reshape": _reshape,
    "rev": lambda x, *, dimensions: bcoo_rev(x, dimensions),
    "slice": _slice,
    "squeeze": lambda x, *, dimensions: bcoo_squeeze(x, dimensions=dimensions),
    "sub": arithmetic.subtract,
    "todense": lambda x: x.todense(),
    "transpose": lambda x, *, permutation: bcoo_transpose(x, permutation=permutation),
}
"""By primitive, what it does with a `BCOO` among its operands."""

RULES_BY_ROW: Mapping[str, Rule] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda *xs, dimension, **_: bcsr_concatenate(xs, dimension=dimension),
    "dot_general": _dot,
    "todense": lambda x: x.todense(),
}
"""By primitive, what it does with a `BCSR` among its operands."""


def _function_of(name: str, params: Mapping[str, Any], primitive: Any) -> Rule:
    def each(x: Any) -> Any:
        if isinstance(x, BCSR):
            parts, tree = tree_flatten(x)
            return tree_unflatten(tree, [primitive.bind(parts[0], **params), *parts[1:]])
        return arithmetic.each(x, lambda d: primitive.bind(d, **params), linear=name in LINEAR)

    return each


def _call(program: Any, *operands: Any) -> list[Any]:
    return (
        evaluate(program, operands)
        if isinstance(program, ClosedJaxpr)
        else evaluate(ClosedJaxpr(program, ()), operands)
    )


def _cond(index: Any, *operands: Any, branches: Sequence[ClosedJaxpr], **_: Any) -> list[Any]:
    functions = [lambda *given, b=b: tuple(_plain(evaluate(b, given))) for b in branches]
    return list(lax.switch(lax.convert_element_type(index, "int32"), functions, *_plain(operands)))


def _plain(values: Sequence[Any]) -> list[Any]:
    """Return values that loops and branches can carry: sparse arrays of which nothing is known beside their parts."""
    return [x.like(x.data) if isinstance(x, BCOO) else _dense(x) for x in values]


def _while(*operands: Any, cond_nconsts: int, cond_jaxpr: Any, body_nconsts: int, body_jaxpr: Any, **_: Any) -> Any:
    first = cond_nconsts + body_nconsts
    given = _plain(operands)
    return list(
        lax.while_loop(
            lambda carries: evaluate(cond_jaxpr, [*given[:cond_nconsts], *carries])[0],
            lambda carries: tuple(_plain(evaluate(body_jaxpr, [*given[cond_nconsts:first], *carries]))),
            tuple(given[first:]),
        )
    )


def _scan(*operands: Any, jaxpr: Any, length: int, reverse: bool, num_consts: int, num_carry: int, **_: Any) -> Any:
    first = num_consts + num_carry
    given = _plain(operands)
    if any(isinstance(x, JAXSparse) for x in given[first:]):
        refuse("sparse rule for scan with x values.", arithmetic.DENSE)

    def body(carries: Any, slices: Any) -> Any:
        found = _plain(evaluate(jaxpr, [*given[:num_consts], *carries, *slices]))
        return tuple(found[:num_carry]), tuple(found[num_carry:])

    carries, stacked = lax.scan(body, tuple(given[num_consts:first]), tuple(given[first:]), length, reverse)
    return [*carries, *stacked]


STRUCTURED: Mapping[str, Rule] = {"cond": _cond, "scan": _scan, "while": _while}
CALLS = {
    "call": "call_jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "jit": "jaxpr",
    "remat": "jaxpr",
}
"""Primitives that call a program, and the parameter that holds it."""


def _dense(x: Any) -> Any:
    return jnp.broadcast_to(x.array, x.shape) if isinstance(x, Repeated) else x


def _repeated(x: Any, *, shape: Any, broadcast_dimensions: Any, **_: Any) -> Repeated:
    extents = dict(zip(broadcast_dimensions, jnp.shape(x), strict=True))
    return Repeated(jnp.reshape(x, [extents.get(k, 1) for k in range(len(shape))]), tuple(shape))


def _apply(equation: Any, values: list[Any]) -> Any:
    """Return what an equation gives."""
    name, params = equation.primitive.name, equation.params
    if not any(isinstance(x, JAXSparse) for x in values):
        if name == "broadcast_in_dim" and not isinstance(values[0], Repeated):
            return _repeated(*values, **params)
        return equation.primitive.bind(*map(_dense, values), **params)
    if name in STRUCTURED:
        return STRUCTURED[name](*values, **params)
    if name in CALLS:
        return _call(params[CALLS[name]], *values)
    if name in ("add", "div", "mul"):  # what is repeated multiplies elements as it is, and would make sums dense
        values = [x.array if isinstance(x, Repeated) else x for x in values]
    by_row = any(isinstance(x, BCSR) for x in values)
    rule = (RULES_BY_ROW if by_row else RULES).get(name)
    if rule is None and name in LINEAR | OF_ZERO_ZERO:
        rule, params = _function_of(name, params, equation.primitive), {}
    if rule is None:
        why = "it would result in dense output" if name in DENSIFYING else ""
        refuse(f"sparse rule for {name} is not implemented", arithmetic.DENSE, why)
    return rule(*map(_dense, values), **params)


def evaluate(closed: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
    """Return the results of a program for arrays, some of them sparse.

    Parameters
    ----------
    closed : ClosedJaxpr
    operands : sequence of Array or sparse array

    Returns
    -------
    list
    """
    jaxpr = closed.jaxpr
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    known.update(zip(jaxpr.invars, operands, strict=True))

    def value(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        found = _apply(equation, [value(v) for v in equation.invars])
        results = found if equation.primitive.multiple_results else [found]
        known.update((v, x) for v, x in zip(equation.outvars, results, strict=True) if not isinstance(v, DropVar))
    return [_dense(value(v)) for v in jaxpr.outvars]


def _is_sparse(x: Any) -> bool:
    return isinstance(x, BCOO | BCSR)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """Make a function of dense arrays one that takes sparse ones, too: `BCOO` and `BCSR`.

    Parameters
    ----------
    f : callable
        Does what there are rules for with them: sums, products, linear functions and those by which zero stays zero,
        reshapes, transposes, slices, loops and branches.
    use_tracer : bool, optional
        Accepted: there is one way.

    Returns
    -------
    callable
        Raises `NotImplementedError` for what there is no rule for.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> m = BCOO.fromdense(jax.numpy.eye(2))
    >>> sparsify(lambda m, v: 2 * m.T @ v)(m, jax.numpy.array([1.0, 2.0]))
    Array([2., 4.], dtype=float...)
    """
    del use_tracer

    @functools.wraps(f)
    def public(*args: Any, **params: Any) -> Any:
        leaves, tree = tree_flatten((args, params), is_leaf=_is_sparse)
        stand_ins = [ShapeDtypeStruct(x.shape, x.dtype) if _is_sparse(x) else x for x in leaves]

        def flat(arrays: list[Any]) -> Any:
            given, named = tree_unflatten(tree, arrays)
            return f(*given, **named)

        closed, out_tree, _ = trace_to_jaxpr(flat, stand_ins)
        given = [x if _is_sparse(x) else jnp.asarray(x) for x in leaves]
        return tree_unflatten(out_tree, evaluate(closed, given))

    return public
