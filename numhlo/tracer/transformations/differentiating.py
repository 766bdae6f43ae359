"""`grad`, `vjp`, `jvp` and `linearize`: derivatives by interpreting a function's graph.

Reverse mode is two steps: linearize (run forward, collecting the tangent ops in a graph that is linear in the tangents)
and transpose that graph. Source: Radul et al., "You Only Linearize Once", POPL 2023.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, overload

import numhlo.tracer.differentiation.families  # noqa: F401 - ops get their rules
from numhlo.lowering.ir import Function, TensorType, Value, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.annotations import STOP_GRADIENT, make_annotation
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.core.named_axes import corrected, corrects_cotangents
from numhlo.tracer.core.operands import asarray, full_of, shape_of
from numhlo.tracer.core.replay import replay_body
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.core.trace import Trace, Tracer, current_trace
from numhlo.tracer.differentiation.table import (
    Dual,
    Walker,
    finish_linear,
    instantiate,
    is_differentiable,
    transpose_body,
)
from numhlo.tracer.python.plain_numpy import run_traced
from numhlo.tracer.transformations.auxiliary_results import opened, sealed_pair
from numhlo.tracer.transformations.derivative_arguments import (
    arrays_like,
    chosen_places,
    dual_of,
    is_float0,
    no_slope,
    require_inexact,
    require_scalar_result,
)
from numhlo.tracer.transformations.staging import (
    Staged,
    ends_its_blocks,
    marked,
    stage_leaves,
    transformation,
    weak_leaves,
)
from numhlo.tracer.trees.pytree_registration import Partial
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_leaves, tree_map, tree_unflatten

P = ParamSpec("P")
R = TypeVar("R")


class LinearMap(NamedTuple):
    """A traced linear function of tangents, with its residuals.

    Attributes
    ----------
    function : Function
        Takes the tangents, then the residuals.
    residuals : list
    outputs : list of int
        Which results of the original function each result of `function` belongs to.
    """

    function: Function
    residuals: list[Any]
    outputs: list[int]


def linearize_function(
    function: Function, inputs: Sequence[Any], active: Sequence[bool], saved: Mapping[Value, Any] | None = None
) -> tuple[list[Any], LinearMap]:
    """Run a function in the current trace, and return its results and its derivative there as a linear map.

    ``saved`` has values of its body that are known, and are not computed again.
    """
    here = current_trace()
    assert here is not None
    arguments = function.body.arguments
    linear = Trace(here, linear=True)
    with linear.resumed():
        tangents = iter([linear.argument(v.type) for v, a in zip(arguments, active, strict=True) if a])
        duals = [Dual(x, next(tangents) if a else None) for x, a in zip(inputs, active, strict=True)]
        results = Walker(here, linear, saved).function(function, duals)
        kept = [k for k, d in enumerate(results) if d.tangent is not None]
        region, captures = finish_linear(linear, [results[k].tangent for k in kept])
    name = f"linear_{function.name}"
    return [d.primal for d in results], LinearMap(Function(name, region), captures, kept)


def linear_tangents(linear: LinearMap, tangents: Sequence[Any], count: int) -> list[Any]:
    """Return the tangents of all ``count`` results, None for what has none."""
    found = replay_body(linear.function.body, [*tangents, *linear.residuals], {})
    by_output = dict(zip(linear.outputs, found, strict=True))
    return [by_output.get(k) for k in range(count)]


def _tangents(found: Sequence[Any], values: Sequence[Value]) -> list[Any]:
    """Return tangents of results, zeros where there are none; under JAX's rules integers have what holds nothing."""
    rules = are_arrays_immutable()
    return [
        no_slope(v.tensor.shape) if rules and not is_differentiable(v.tensor.dtype) else instantiate(t, v)
        for t, v in zip(found, values, strict=True)
    ]


def apply_transposed(linear: LinearMap, cotangents: Sequence[Any], count: int, totals: Sequence[Any] = ()) -> list[Any]:
    """Return the cotangents of the ``count`` linear arguments, those of the first ones added to ``totals``."""
    region = linear.function.body
    inputs = [None] * count + list(linear.residuals)
    found = transpose_body(region, inputs, [cotangents[k] for k in linear.outputs], dict(enumerate(totals)))
    return [instantiate(c, v) for c, v in zip(found[:count], region.arguments, strict=False)]


def _stage(fun: Callable[..., Any], leaves: Sequence[Any], tree: PyTreeDef, pair_for: str | None = None) -> Staged:
    """Trace ``fun`` on the leaves of its positional arguments; for `pair_for`, if given, it returns a pair."""

    def body(*arguments: Tracer) -> Any:
        result = run_traced(fun, *tree_unflatten(tree, arguments))
        return result if pair_for is None else sealed_pair(result, pair_for)

    return stage_leaves(body, leaves, getattr(fun, "__name__", "function"), differentiates=True)


def value_and_grad(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, Any]]:
    """Return a function that gives ``fun``'s value and its gradient.

    Parameters
    ----------
    fun : callable
        Returns a scalar, or a pair of a scalar and anything if ``has_aux``.
    argnums : int or sequence of int, optional
        Which positional arguments to differentiate with respect to; each a pytree of float arrays.
    has_aux : bool, optional
        ``fun`` returns something beside the scalar, which is passed on.
    holomorphic : bool, optional
        ``fun`` is holomorphic: arguments and result are complex, and the gradient is the complex derivative.
    allow_int : bool, optional
        Let integer arguments pass; there are no slopes by them, but zeros.

    Returns
    -------
    callable
        Same arguments; returns ``(value, gradient)``, or ``((value, aux), gradient)``.

    Raises
    ------
    DTypeError
        If an argument is not of floats.
    ShapeError
        If the result is not a scalar.

    Examples
    --------
    >>> value, slope = value_and_grad(lambda x: x * x)(3.0)
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    require_callable(fun, "grad: fun")

    @functools.wraps(fun)
    @ends_its_blocks
    def differentiated(*args: P.args, **kwargs: P.kwargs) -> tuple[Any, Any]:
        places = chosen_places(argnums, len(args))
        chosen = tuple(args[k] for k in places)
        leaves, tree = tree_flatten(chosen)
        require_inexact(leaves, "grad", holomorphic, allow_int)

        @functools.wraps(fun)
        def of_chosen(*values: Any) -> Any:
            given = list(args)
            for k, v in zip(places, values, strict=True):
                given[k] = v
            result = run_traced(fun, *given, **kwargs)
            return sealed_pair(result, "grad") if has_aux else (result, None)

        with transformation() as finish:
            value, aux, gradients = _pull_back_scalar(of_chosen, leaves, tree, holomorphic)
            parts = tree_unflatten(tree, gradients)
            gradient = parts[0] if isinstance(argnums, int) else parts
            result: tuple[Any, Any] = opened(finish(((value, aux) if has_aux else value, gradient)))
            return result

    return differentiated


def _pull_back_scalar(
    fun: Callable[..., Any], leaves: Sequence[Any], tree: PyTreeDef, holomorphic: bool
) -> tuple[Any, Any, list[Any]]:
    """Return the value, the auxiliary results, and the gradient's leaves."""
    staged = _stage(fun, leaves, tree)
    active = [is_differentiable(asarray(x).dtype) for x in leaves] + [False] * len(staged.captures)
    results, linear = linearize_function(staged.function, [*map(asarray, leaves), *staged.captures], active)
    pair = staged.tree_of(results)
    value = require_scalar_result(pair[0], holomorphic)
    cotangents: list[Any] = [full_of(1, (), value.dtype)] + [None] * (len(results) - 1)
    moving = [asarray(x) for x, a in zip(leaves, active, strict=False) if a]
    found = apply_transposed(linear, corrected("share", cotangents, results), sum(active))
    gradients = iter(corrected("total", found, moving))
    slopes = [next(gradients) if a else no_slope(shape_of(x)) for x, a in zip(leaves, active, strict=False)]
    return pair[0], pair[1], marked(slopes, _moving(leaves, active))


def _moving(leaves: Sequence[Any], active: Sequence[bool]) -> list[bool]:
    """Return which leaves are weak, and so are their slopes."""
    return [weak and moves for weak, moves in zip(weak_leaves(leaves), active, strict=False)]


def grad(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]:
    """Return a function that gives the gradient of ``fun``, by reverse mode; `value_and_grad` gives its value, too.

    Parameters
    ----------
    fun : callable
        Returns a scalar, or a pair of a scalar and anything if ``has_aux``.
    argnums : int or sequence of int, optional
        Which positional arguments to differentiate with respect to; each a pytree of float arrays.
    has_aux, holomorphic, allow_int : bool, optional
        As those of `value_and_grad`.

    Returns
    -------
    callable
        Same arguments; returns the gradient, or ``(gradient, aux)``. The gradient has the argument's structure and
        shapes; it is a tuple of such for a sequence of ``argnums``.

    Raises
    ------
    DTypeError
        When it is called, if an argument is not of floats.
    ShapeError
        When it is called, if the result is not a scalar.

    Examples
    --------
    >>> float(grad(lambda x: x**3)(2.0))
    12.0
    >>> grad(lambda p, x: p["a"] * x + p["b"])({"a": 1.0, "b": 0.0}, 3.0)
    {'a': Array(3.), 'b': Array(1.)}
    """
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun)
    @ends_its_blocks
    def gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        value, slope = both(*args, **kwargs)
        return (slope, value[1]) if has_aux else slope

    return gradient


@overload
def jvp(
    fun: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> tuple[Any, ...]: ...
@ends_its_blocks
def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """Return ``fun``'s results and their tangents (directional derivatives), by forward mode.

    Parameters
    ----------
    fun : callable
    primals, tangents : sequence
        One for each positional argument; equal structure, shapes and dtypes.
    has_aux : bool, optional

    Returns
    -------
    tuple
        ``(results, tangents)``, or ``(results, tangents, aux)``.

    Raises
    ------
    ArgumentError
        If primals and tangents differ in structure.
    ShapeError, DTypeError
        If their shapes differ, or a primal is not of floats.

    Examples
    --------
    >>> y, dy = jvp(lambda x: x * x, (3.0,), (1.0,))
    >>> float(y), float(dy)
    (9.0, 6.0)
    """
    require_callable(fun, "jvp: fun")
    for given, what in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(given, tuple | list):
            raise ArgumentError(
                f"jvp: {what} of class {type(given).__name__}",
                where=capture_location(),
                why="there is one for each positional argument",
                fix=f"give a tuple with one entry for each argument: ({what[:-1]},)",
            )
    leaves, tree = tree_flatten(tuple(primals))
    slopes, other = tree_flatten(tuple(tangents))
    if tree != other:
        raise ArgumentError(
            "jvp: primals and tangents differ in structure",
            where=capture_location(),
            why=f"primals are {tree}, tangents are {other}; each primal has a tangent",
            fix="give the same containers with the same keys; zeros for what does not move",
        )
    require_inexact([x for x, t in zip(leaves, slopes, strict=True) if not is_float0(t)], "jvp")
    with transformation() as finish:
        staged = _stage(fun, leaves, tree, "jvp" if has_aux else None)
        duals = [dual_of(x, t) for x, t in zip(leaves, slopes, strict=True)]
        results = Walker().function(staged.function, [*duals, *[Dual(c, None) for c in staged.captures]])
        outputs = staged.tree_of([d.primal for d in results])
        moved = _slopes(staged, [d.tangent for d in results])
        if has_aux:
            return opened(finish((outputs[0], moved[0], outputs[1])))
        return finish((outputs, moved))


def _slopes(staged: Staged, found: Sequence[Any]) -> Any:
    """Return results' tangents in their tree, weak where the results are, and have slopes."""
    values = staged.function.body.returns
    weak = [w and is_differentiable(v.tensor.dtype) for w, v in zip(staged.weak, values, strict=True)]
    return tree_unflatten(staged.out_tree, marked(_tangents(found, values), weak))


def _linearized(fun: Callable[..., Any], primals: Sequence[Any], has_aux: bool) -> tuple[Any, ...]:
    """Return results, auxiliary results, linear map, the structures around it, and the results' types."""
    leaves, tree = tree_flatten(tuple(primals))
    require_inexact(leaves, "vjp", allow_int=are_arrays_immutable())
    staged = _stage(fun, leaves, tree, "vjp" if has_aux else None)
    active = [is_differentiable(asarray(x).dtype) for x in leaves] + [False] * len(staged.captures)
    results, linear = linearize_function(staged.function, [*map(asarray, leaves), *staged.captures], active)
    return results, linear, tree, staged


@overload
def vjp(
    fun: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
@ends_its_blocks
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return ``fun``'s results and the function that pulls cotangents of them back to the arguments.

    Parameters
    ----------
    fun : callable
    *primals : pytree of arrays
        Its positional arguments, of floats or complex numbers.
    has_aux : bool, optional
        Whether it returns a pair of results and anything.

    Returns
    -------
    tuple
        ``(results, pull)``, or ``(results, pull, aux)``. ``pull`` takes cotangents of the results' structure
        and returns a tuple, one entry for each argument; it may be called again, and jitted functions may return it.

    Raises
    ------
    DTypeError
        If an argument is not of floats.
    ArgumentError
        By ``pull``, if the structure is another.

    Examples
    --------
    >>> y, pull = vjp(lambda x: x * x, 3.0)
    >>> float(y), float(pull(1.0)[0])
    (9.0, 6.0)
    """
    require_callable(fun, "vjp: fun")
    with transformation() as finish:
        results, linear, tree, staged = _linearized(fun, primals, has_aux)
        given = tree_leaves(primals)
        fixed = {k: no_slope(shape_of(x)) for k, x in enumerate(given) if not is_differentiable(asarray(x).dtype)}
        count = tree.num_leaves - len(fixed)
        outputs = opened(finish(staged.tree_of(results)))
        moving = [asarray(x) for k, x in enumerate(given) if k not in fixed]
        values = [*[results[k] for k in linear.outputs], *moving] if corrects_cotangents() else []
        residuals = finish([*linear.residuals, *values])
        weak = _moving(given, [k not in fixed for k in range(len(given))])
    out_tree = staged.out_tree.children[0] if has_aux else staged.out_tree
    types = [v.tensor for v in staged.function.body.returns]

    @ends_its_blocks
    def pull(residuals: list[Any], cotangents: Any) -> Any:
        with transformation() as done:
            arrays: list[Any] = [*arrays_like(out_tree, types, cotangents, "vjp: a cotangent", "results")]
            arrays += [None] * (len(types) - len(arrays))
            first = len(linear.residuals)
            kept, values = linear._replace(residuals=residuals[:first]), residuals[first:]
            shares = corrected("share", [arrays[k] for k in linear.outputs], values)
            for k, share in zip(linear.outputs, shares, strict=True):
                arrays[k] = share
            slopes = apply_transposed(kept, arrays, count)
            found = iter(corrected("total", slopes, values[len(shares) :]))
            slopes = [fixed[k] if k in fixed else next(found) for k in range(tree.num_leaves)]
            return done(tree_unflatten(tree, marked(slopes, weak)))

    back = Partial(pull, residuals)
    return (outputs[0], back, outputs[1]) if has_aux else (outputs, back)


@overload
def linearize(fun: Callable[..., R], *primals: Any, has_aux: Literal[False] = False) -> tuple[R, Callable[..., R]]: ...
@overload
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
@ends_its_blocks
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return ``fun``'s results at ``primals`` and its derivative there, a linear function of tangents.

    Parameters
    ----------
    fun : callable
    *primals : pytree of arrays
        Its positional arguments, of floats or complex numbers.
    has_aux : bool, optional
        Whether it returns a pair of results and anything.

    Returns
    -------
    tuple
        ``(results, push)``, or ``(results, push, aux)``; ``push`` takes tangents as ``fun`` takes arguments, and
        computes nothing of ``fun`` again; jitted functions may return it.

    Raises
    ------
    DTypeError
        If an argument is not of floats.

    Examples
    --------
    >>> y, push = linearize(lambda x: x**3, 2.0)
    >>> float(y), float(push(1.0))
    (8.0, 12.0)
    """
    require_callable(fun, "linearize: fun")
    with transformation() as finish:
        results, linear, tree, staged = _linearized(fun, primals, has_aux)
        outputs = opened(finish(staged.tree_of(results)))
        residuals = finish(linear.residuals)
    types = [TensorType(shape_of(x), asarray(x).dtype) for x in tree_leaves(primals)]

    @ends_its_blocks
    def push(residuals: list[Any], *tangents: Any) -> Any:
        with transformation() as done:
            given = arrays_like(tree, types, tangents, "linearize: a tangent", "arguments")
            arrays = [x for x, t in zip(given, types, strict=True) if is_differentiable(t.dtype)]
            kept = linear._replace(residuals=residuals)
            moved = _slopes(staged, linear_tangents(kept, arrays, len(staged.weak)))
            return done(moved[0] if has_aux else moved)

    back = Partial(push, residuals)
    return (outputs[0], back, outputs[1]) if has_aux else (outputs, back)


def stop_gradient(x: Any) -> Any:
    """Return ``x``, a constant for derivatives; ``x`` may be a pytree.

    Parameters
    ----------
    x : pytree of arrays

    Returns
    -------
    pytree of arrays
        The same, with zero tangents in either mode.

    Examples
    --------
    >>> float(grad(lambda x: x * stop_gradient(x))(3.0))
    3.0
    """

    def stop(leaf: Any) -> Any:
        array = asarray(leaf)
        type = TensorType(shape_of(array), array.dtype)
        attributes = make_annotation(STOP_GRADIENT, type)
        return bind1(control_flow.COMPOSITE, array, attributes=attributes, results=[type])

    return tree_map(stop, x)
