"""`custom_vjp` and `custom_gradient`: functions that bring their backward derivative along.

The backward rule stands behind a composite that is linear in the tangents and that only transposition can make sense of
(see `custom_rules`); whoever asks for its values, in forward mode, is told so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar

from numhlo.library.transformations.custom_call_arguments import (
    CustomFunction,
    arrays_around,
    bind_call,
    flatten_like,
    of_types,
    pair_of,
    prepare,
    refuse_captured,
    run_rule,
    still,
)
from numhlo.library.transformations.symbolic_zeros import Flags
from numhlo.lowering.ir import Function, Op, TensorType, capture_location
from numhlo.lowering.ir.derivative_errors import ForwardDerivativeError, MissingRuleError
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.custom_calls import register_custom_call
from numhlo.tracer.building import (
    SCALARS,
    CustomRule,
    LinearRule,
    PyTreeDef,
    Walker,
    asarray,
    batched_axis,
    bind,
    bind_with_rule,
    broadcast_to_shape,
    current_trace,
    expand,
    full_of,
    replay_function,
    require_callable,
    shape_of,
    sum_over,
    trace_function,
    tree_flatten,
    tree_unflatten,
    vmap,
)
from numhlo.tracer.building.derivatives import Residuals, is_differentiable, stage_leaves
from numhlo.tracer.building.named_axes import corrected, corrects_cotangents

P = ParamSpec("P")
R = TypeVar("R")

FlatRule = Callable[..., Any]


class custom_vjp(CustomFunction[P, R]):  # noqa: N801 - JAX's name, used as a decorator
    """A function with a backward derivative of its own.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    nondiff_argnums, nondiff_argnames : sequence, optional
        Arguments that are not differentiated; the backward rule gets them first.

    Raises
    ------
    ArgumentError
        If no rule has been given when a derivative is taken.
    UnsupportedError
        If it is differentiated forwards (jvp, jacfwd) and the result is computed.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.differentiating import grad
    >>> @custom_vjp
    ... def halved_gradient(x):
    ...     return x * 1.0
    >>> halved_gradient.defvjp(lambda x: (x * 1.0, None), lambda residuals, g: (g / 2,))
    >>> float(grad(halved_gradient)(3.0))
    0.5
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None
    symbolic_zeros: bool = False

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the rules of the derivative.

        Parameters
        ----------
        fwd : callable
            ``fwd(*args) -> (out, residuals)``: the result, and a pytree that ``bwd`` gets.
        bwd : callable
            ``bwd(*nondiff, residuals, cotangents) -> tuple`` with a cotangent for each differentiable argument, of its
            structure and shapes; None for zero.
        symbolic_zeros : bool, optional
            Pass arguments of ``fwd`` as `CustomVJPPrimal`, which say whether they are differentiated by, and cotangents
            that are zero as `SymbolicZero`, which ``bwd`` may return, too.
        optimize_remat : bool, optional
            Without meaning.
        """
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; in a trace, as one op that brings the rules along."""
        if current_trace() is None:
            return self.fun(*args, **kwargs)
        call = prepare(self.fun, self.nondiff, args, kwargs)
        name = getattr(self.fun, "__name__", "function")
        staged = stage_leaves(call.fun, call.leaves, name)
        kept_residuals: list[_Kept] = []

        around = arrays_around(self.fwd, self.bwd, *call.fixed)
        perturbed, present = Flags(self.symbolic_zeros), Flags(self.symbolic_zeros)

        def forward(arrays: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
            if self.fwd is None:
                raise MissingRuleError(
                    f"{name} is a custom_vjp function without rules",
                    where=capture_location(),
                    fix="give it some with defvjp",
                )
            both = run_rule(prepare(self.fwd, self.nondiff, args, kwargs).fun, perturbed.primals(arrays), around, now)
            what = f"the result of the forward rule of {name}"
            result, needed = pair_of(both, what, "the result, and what the backward rule needs")
            outputs = flatten_like(staged.out_tree, result, what)
            residuals, tree = tree_flatten(needed)
            kept_residuals[:] = [_Kept(tree, [x if type(x) in SCALARS else None for x in residuals])]
            return [asarray(x) for x in outputs], [asarray(x) for x in residuals if type(x) not in SCALARS]

        def backward(residuals: list[Any], cotangents: list[Any], models: list[Any], now: list[Any]) -> list[Any]:
            assert self.bwd is not None
            kept = kept_residuals[0].filled(residuals)
            given = tree_unflatten(staged.out_tree, present.told(cotangents))
            found = run_rule(self.bwd, [*call.fixed, kept, given], around, now)
            return of_types(_spread_none(found, call.tree, name), models, f"a cotangent of the vjp rule of {name}")

        made = _VjpRule(forward, backward, len(call.leaves), len(around), (perturbed, present))
        result: R = bind_call("numhlo.custom_vjp", call, staged, made, around)
        return result


class _Kept(NamedTuple):
    """What a forward rule left for the backward rule, without the arrays.

    Attributes
    ----------
    tree : PyTreeDef
    numbers : list
        Python's numbers and flags among the leaves, which stay what they are; None for arrays.
    """

    tree: PyTreeDef
    numbers: list[Any]

    def filled(self, arrays: Sequence[Any]) -> Any:
        """Return all of it."""
        rest = iter(arrays)
        return tree_unflatten(self.tree, [next(rest) if n is None else n for n in self.numbers])


def _spread_none(found: Any, tree: PyTreeDef, name: str) -> list[Any]:
    """Return the leaves of a backward rule's result; an argument's None stands for zeros of all its leaves."""
    parts = tree_unflatten(tree, range(tree.num_leaves))
    if not isinstance(found, tuple | list) or len(found) != len(parts):
        shown = f"a tuple of {len(found)}" if isinstance(found, tuple | list) else f"a {type(found).__name__}"
        raise ArgumentError(
            f"the backward rule of {name} returned {shown}",
            where=capture_location(),
            fix=f"return a tuple with one cotangent for each of the {len(parts)} differentiable arguments",
        )
    leaves: list[Any] = []
    for k, (part, cotangent) in enumerate(zip(parts, found, strict=True)):
        numbers, structure = tree_flatten(part)
        if cotangent is None:
            leaves += [None] * len(numbers)
        else:
            leaves += flatten_like(structure, cotangent, f"cotangent {k} of the backward rule of {name}")
    return leaves


class _VjpRule(CustomRule[Walker]):
    """Differentiates backwards, all flat.

    Parameters
    ----------
    forward : callable
        ``forward(arrays, arrays around it) -> (outputs, residuals)``.
    backward : callable
        ``backward(residuals, cotangents, models, arrays around it) -> cotangents``.
    count, num_around : int
        Operands that are arguments, and those last ones that the rules close over.
    flags : (Flags, Flags)
        Which arguments are differentiated by, and which results have cotangents.
    differs : (sequence of frozenset, sequence of frozenset), optional
        Along which axes of a mesh arguments and results differ, where that decides what their cotangents are.
    """

    def __init__(
        self,
        forward: FlatRule,
        backward: FlatRule,
        count: int,
        num_around: int,
        flags: tuple[Flags, Flags],
        differs: tuple[Sequence[Any], Sequence[Any]] | None = None,
    ) -> None:
        self.forward, self.backward, self.count, self.num_around = forward, backward, count, num_around
        self.flags, self.differs = flags, differs

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the forward rule, and stand in for a derivative that only transposition can make sense of."""
        first = len(primals) - self.num_around
        refuse_captured(op, "the gradient", self.count, tangents[:first])
        now = still(primals[first:], tangents[first:])
        given = primals[: self.count]
        name = op.attributes["decomposition"].name
        moving = [k for k, t in enumerate(tangents[: self.count]) if t is not None]

        def forward(*arrays: Any) -> Any:
            self.flags[0].moving = [k in moving for k in range(self.count)]
            return self.forward(list(arrays), now)

        with walker.in_primal():
            staged = stage_leaves(forward, given, f"forward_{name}")
            outputs, residuals = tree_unflatten(
                staged.out_tree, replay_function(staged.function, [*given, *staged.captures])
            )
        floats = [k for k, x in enumerate(outputs) if is_differentiable(x.dtype)]
        constant = [x for x in now if x is not None]
        corrected_by = [outputs[k] for k in floats] if corrects_cotangents() else []
        operands = [*constant, *given, *corrected_by, *residuals, *[tangents[k] for k in moving]]
        present = [x is not None for x in now]
        types = [v.tensor for v in op.results]
        rule = _Backward(self.backward, self.count, present, moving, floats, types, self.flags[1])
        linear = _transposed_only(name, operands, [op.results[k].tensor for k in floats])
        found = dict(zip(floats, bind_with_rule("numhlo.custom_vjp_linear", linear, operands, rule), strict=True))
        return outputs, [found.get(k) for k in range(len(outputs))]

    def batched(self, size: int) -> CustomRule:
        """Return the rules on lanes."""
        name = batched_axis()
        forward, backward = (vmap(rule, axis_name=name, axis_size=size) for rule in (self.forward, self.backward))
        if self.differs is not None and name is not None:
            backward = self._with_one_cotangent(backward, name, size)
        return _VjpRule(forward, backward, self.count, self.num_around, self.flags, self.differs)

    def among_devices(self, operands: Sequence[Any], results: Sequence[Any]) -> CustomRule:
        """Return the rules for devices of a mesh: what all of them have alike has one cotangent, not one on each."""
        return _VjpRule(self.forward, self.backward, self.count, self.num_around, self.flags, (operands, results))

    def _with_one_cotangent(self, backward: FlatRule, name: Any, size: int) -> FlatRule:
        """Return a backward rule on lanes for which lanes that are all alike have one cotangent, their sum."""
        assert self.differs is not None
        taken, given = [[name in axes for axes in row] for row in self.differs]

        def total(x: Any) -> Any:
            return broadcast_to_shape(expand(sum_over(x, (0,)), 0), shape_of(x))

        def public(residuals: list[Any], cotangents: list[Any], models: list[Any], now: list[Any]) -> list[Any]:
            whole = [x if differs else total(x) for x, differs in zip(cotangents, given, strict=True)]
            found = backward(residuals, whole, models, now)
            return [x if differs else x / size for x, differs in zip(found, taken, strict=False)]

        return public


class _Backward(LinearRule):
    """Transposes the linear half of a function with a backward rule: by that rule."""

    def __init__(
        self,
        backward: FlatRule,
        count: int,
        present: list[bool],
        moving: list[int],
        floats: list[int],
        types: list[TensorType],
        flags: Flags,
    ) -> None:
        self.backward, self.count, self.present = backward, count, present
        self.moving, self.floats, self.types, self.flags = moving, floats, types, flags
        self.corrects = corrects_cotangents()

    def transpose(self, op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        """Return the cotangents of the tangents; of residuals there are none."""
        linear = len(operands) - len(self.moving)
        first = sum(self.present)
        constant, known = iter(operands[:first]), operands[first:linear]
        now = [next(constant) if there else None for there in self.present]
        values = known[self.count :][: len(self.floats)] if self.corrects else []
        if self.corrects:
            cotangents = corrected("total", cotangents, values)
        given = dict(zip(self.floats, cotangents, strict=True))
        filled = [given.get(k) for k in range(len(self.types))]
        self.flags.moving = [c is not None for c in filled]
        filled = [full_of(0, t.shape, t.dtype) if c is None else c for c, t in zip(filled, self.types, strict=True)]
        found = self.backward(known[self.count + len(values) :], filled, known[: self.count], now)
        slopes = [found[k] for k in self.moving]
        if self.corrects:
            slopes = corrected("share", slopes, [known[k] for k in self.moving])
        return [None] * linear + slopes


def _transposed_only(name: str, operands: Sequence[Any], types: Sequence[TensorType]) -> Function:
    """Return a function whose results nobody can compute: the forward derivative of a custom_vjp function."""
    attributes = {"call_target_name": FORWARD_DERIVATIVE, "backend_config": name}

    def body(*arrays: Any) -> list[Any]:
        return bind(control_flow.CUSTOM_CALL, *arrays, attributes=attributes, results=list(types))

    return trace_function(f"derivative_{name}", body, [TensorType(shape_of(x), x.dtype) for x in operands])[0]


def _refuse_forward(arrays: Sequence[Any], attributes: Mapping[str, Any]) -> NoReturn:
    raise ForwardDerivativeError(
        f"forward-mode derivative (jvp, jacfwd, linearize) of the custom_vjp function {attributes['backend_config']}",
        why="its rules say only how to go backwards",
        fix="use grad, vjp or jacrev, or write a custom_jvp rule, which serves both",
    )


FORWARD_DERIVATIVE = "numhlo.forward_derivative"
register_custom_call(FORWARD_DERIVATIVE, _refuse_forward)


def custom_gradient(fun: Callable[P, tuple[R, Any]]) -> Callable[P, R]:
    """Return a function whose gradient is given by ``fun`` along with its result.

    Parameters
    ----------
    fun : callable
        ``fun(*args) -> (result, vjp)`` with ``vjp(cotangents) ->`` the cotangent of the only argument, or a tuple of
        one for each.

    Returns
    -------
    callable
        Same arguments; returns the result alone.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.differentiating import grad
    >>> @custom_gradient
    ... def softplus(x):
    ...     return np.log1p(np.exp(x)), lambda g: g / (1 + np.exp(-x))
    >>> float(grad(softplus)(0.0))
    0.5
    """
    require_callable(fun, "custom_gradient: fun")

    @custom_vjp
    @functools.wraps(fun)
    def function(*args: P.args, **kwargs: P.kwargs) -> R:
        return fun(*args, **kwargs)[0]

    @functools.wraps(fun)  # calls by keyword are bound by its signature
    def forward(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Residuals]:
        result, pull = fun(*args, **kwargs)
        leaves, tree = tree_flatten(result)
        zeros = [full_of(0, shape_of(x), asarray(x).dtype) for x in leaves]
        staged = stage_leaves(lambda *cts: pull(tree_unflatten(tree, cts)), zeros, f"vjp_{fun.__name__}")
        return result, Residuals(list(staged.captures), (staged.function, staged.out_tree))

    def backward(residuals: Residuals, cotangents: Any) -> Any:
        pull, tree = residuals.static
        found = tree_unflatten(tree, replay_function(pull, [*tree_flatten(cotangents)[0], *residuals.arrays]))
        return found if isinstance(found, tuple) else (found,)

    function.defvjp(forward, backward)
    return function
