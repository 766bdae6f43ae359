"""`jax.example_libraries.optimizers`: optimizers as triples of functions.

An optimizer is ``(init, update, get_params)``: ``init(params)`` gives a state, ``update(step, gradients, state)`` the
next one, ``get_params(state)`` the parameters in it. Step sizes are numbers, or functions of the step's number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.tree_util import (
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

__all__ = [
    "JoinPoint", "Optimizer", "OptimizerState", "adagrad", "adam", "adamax", "clip_grads", "constant",
    "exponential_decay", "inverse_time_decay", "l2_norm", "make_schedule", "momentum", "nesterov", "optimizer",
    "pack_optimizer_state", "piecewise_constant", "polynomial_decay", "rmsprop", "rmsprop_momentum", "sgd", "sm3",
    "unpack_optimizer_state",
]  # fmt: skip

Schedule = Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """The state of an optimizer: what it keeps for each parameter, flat.

    Attributes
    ----------
    packed_state : sequence of sequence of array
        For each parameter, the leaves of what is kept.
    tree_def : PyTreeDef
        Of the parameters.
    subtree_defs : sequence of PyTreeDef
        Of what is kept for each.
    """

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


register_pytree_node(
    OptimizerState,
    lambda s: ((s.packed_state,), (s.tree_def, s.subtree_defs)),
    lambda defs, children: OptimizerState(children[0], *defs),
)


class Optimizer(NamedTuple):
    """The functions of an optimizer."""

    init_fn: Callable[..., Any]
    update_fn: Callable[..., Any]
    params_fn: Callable[..., Any]


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """Make an optimizer of parameters in any pytree of one that is written for a single array.

    Parameters
    ----------
    opt_maker : callable
        Returns ``(init, update, get_params)`` for one array.

    Returns
    -------
    callable
        Takes the same options; returns an `Optimizer`.
    """

    @functools.wraps(opt_maker)
    def make(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def tree_init(params: Any) -> OptimizerState:
            leaves, tree = tree_flatten(params)
            states = [tree_flatten(init(x)) for x in leaves]
            return OptimizerState(tuple([tuple(s) for s, _ in states]), tree, tuple([t for _, t in states]))

        def tree_update(i: Any, gradients: Any, state: OptimizerState) -> OptimizerState:
            given, structure = tree_flatten(gradients)
            if structure != state.tree_def:
                raise TypeError(
                    f"optimizer update function was passed a gradient tree that did not match the parameter tree: "
                    f"{structure}, and not {state.tree_def}"
                )
            old = map(tree_unflatten, state.subtree_defs, state.packed_state)
            new = [tree_flatten(update(i, g, s)) for g, s in zip(given, old, strict=True)]
            for (_, found), kept in zip(new, state.subtree_defs, strict=True):
                if found != kept:
                    raise TypeError(f"optimizer update function produced an output structure {found}, and not {kept}")
            return OptimizerState(tuple([tuple(s) for s, _ in new]), state.tree_def, state.subtree_defs)

        def tree_params(state: OptimizerState) -> Any:
            states = map(tree_unflatten, state.subtree_defs, state.packed_state)
            return tree_unflatten(state.tree_def, [get_params(s) for s in states])

        return Optimizer(tree_init, tree_update, tree_params)

    return make


@optimizer
def sgd(step_size: Any) -> Any:
    """Make an optimizer that goes down the gradient.

    Examples
    --------
    >>> init, update, get_params = sgd(0.5)
    >>> float(get_params(update(0, 2.0, init(3.0))))
    2.0
    """
    rate = make_schedule(step_size)
    return (lambda x: x), (lambda i, g, x: jnp.asarray(x) - rate(i) * g), (lambda x: x)


@optimizer
def momentum(step_size: Any, mass: float) -> Any:
    """Make an optimizer that goes along a velocity, which gradients add to."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * velocity, velocity

    return _with_zeros(1), update, _first


@optimizer
def nesterov(step_size: Any, mass: float) -> Any:
    """Make an optimizer with Nesterov's momentum."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * (mass * velocity + g), velocity

    return _with_zeros(1), update, _first


@optimizer
def adagrad(step_size: Any, momentum: float = 0.9) -> Any:
    """Make an optimizer whose steps shrink with the sum of squared gradients; see Duchi et al. 2011."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, mean = state
        squares = squares + jnp.square(g)
        scale = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        mean = (1.0 - momentum) * (g * scale) + momentum * mean
        return x - rate(i) * mean, squares, mean

    return _with_zeros(2), update, _first


@optimizer
def rmsprop(step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """Make an optimizer whose steps are divided by the root of a moving mean of squared gradients."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean_square = state
        mean_square = mean_square * gamma + jnp.square(g) * (1.0 - gamma)
        return x - rate(i) * g / jnp.sqrt(mean_square + eps), mean_square

    return _with_zeros(1), update, _first


@optimizer
def rmsprop_momentum(step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9) -> Any:
    """Make an optimizer as `rmsprop` that goes along a velocity."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean_square, velocity = state
        mean_square = mean_square * gamma + jnp.square(g) * (1.0 - gamma)
        velocity = momentum * velocity + rate(i) * g / jnp.sqrt(mean_square + eps)
        return x - velocity, mean_square, velocity

    return _with_zeros(2), update, _first


@optimizer
def adam(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Make an optimizer with moving means of gradients and of their squares; see Kingma and Ba 2015, algorithm 1."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, first, second = state
        first = (1 - b1) * g + b1 * first
        second = (1 - b2) * jnp.square(g) + b2 * second
        first_unbiased = first / (1 - jnp.asarray(b1, first.dtype) ** (i + 1))
        second_unbiased = second / (1 - jnp.asarray(b2, first.dtype) ** (i + 1))
        return x - rate(i) * first_unbiased / (jnp.sqrt(second_unbiased) + eps), first, second

    return _with_zeros(2), update, _first


@optimizer
def adamax(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Make an optimizer as `adam` by the greatest gradient; see Kingma and Ba 2015, algorithm 2."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, first, greatest = state
        first = (1 - b1) * g + b1 * first
        greatest = jnp.maximum(b2 * greatest, jnp.abs(g))
        scale = rate(i) / (1 - jnp.asarray(b1, first.dtype) ** (i + 1))
        return x - scale * first / (greatest + eps), first, greatest

    return _with_zeros(2), update, _first


@optimizer
def sm3(step_size: Any, momentum: float = 0.9) -> Any:
    """Make an optimizer as `adagrad` that keeps one sum for each row, column and so on; see Anil et al. 2019."""
    rate = make_schedule(step_size)

    def spread(sums: Sequence[Any], axis: int, ndim: int) -> Any:
        return sums[axis].reshape([-1 if k == axis else 1 for k in range(ndim)])

    def init(x: Any) -> Any:
        x = jnp.asarray(x)
        return x, jnp.zeros_like(x), [jnp.zeros(n, x.dtype) for n in x.shape]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, sums = state
        least = functools.reduce(jnp.minimum, [spread(sums, k, x.ndim) for k in range(x.ndim)])
        total = least + jnp.square(g)
        scale = jnp.where(total > 0, 1.0 / jnp.sqrt(total), 0.0)
        mean = (1.0 - momentum) * (g * scale) + momentum * mean
        new = [jnp.max(total, axis=tuple(a for a in range(x.ndim) if a != k)) for k in range(x.ndim)]
        return x - rate(i) * mean, mean, new

    return init, update, _first


def _with_zeros(number: int) -> Callable[[Any], Any]:
    def init(x: Any) -> Any:
        return (x, *[jnp.zeros_like(x) for _ in range(number)])

    return init


def _first(state: Any) -> Any:
    return state[0]


def constant(step_size: Any) -> Schedule:
    """Return a step size that stays."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """Return a step size that is multiplied by a rate in each so many steps.

    Examples
    --------
    >>> exponential_decay(1.0, 2, 0.25)(1)
    0.5
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False) -> Schedule:
    """Return a step size that falls as the inverse of the step."""
    if staircase:
        return lambda i: step_size / (1 + decay_rate * jnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(step_size: Any, decay_steps: Any, final_step_size: Any, power: float = 1.0) -> Schedule:
    """Return a step size that goes to a final one in so many steps."""

    def schedule(i: Any) -> Any:
        left = 1 - jnp.minimum(i, decay_steps) / decay_steps
        return left**power * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """Return a step size that changes at some steps."""
    edges, sizes = jnp.array(boundaries), jnp.array(values)
    if edges.ndim != 1 or sizes.ndim != 1:
        raise ValueError("boundaries and values must be sequences")
    if edges.shape[0] != sizes.shape[0] - 1:
        raise ValueError("boundaries length must be one shorter than values length")
    return lambda i: sizes[jnp.sum(i > edges)]


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """Return a function of the step's number: as it is, or one that gives a number.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule  # type: ignore[no-any-return]
    if jnp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise TypeError(type(scalar_or_schedule))


def l2_norm(tree: Any) -> Any:
    """Return the Euclidean norm of all leaves together.

    Examples
    --------
    >>> float(l2_norm([jnp.array(3.0), jnp.array([4.0])]))
    5.0
    """
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in tree_leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """Return gradients scaled down to a norm, where theirs is greater."""
    norm = l2_norm(grad_tree)
    return tree_map(lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


class JoinPoint:
    """A place where two pytrees are joined: a leaf that holds one.

    Parameters
    ----------
    subtree : pytree
    """

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Any:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """Return a state as a pytree of the parameters' structure, whose leaves are `JoinPoint` with what is kept."""
    kept = map(tree_unflatten, opt_state.subtree_defs, opt_state.packed_state)
    return tree_unflatten(opt_state.tree_def, [JoinPoint(s) for s in kept])


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """Return the state of what `unpack_optimizer_state` gave."""
    points, tree = tree_flatten(marked_pytree)
    if not all(isinstance(p, JoinPoint) for p in points):
        raise TypeError("every leaf must be a JoinPoint")
    leaves = [tree_flatten(p.subtree)[0] for p in points]
    return OptimizerState(tuple(map(tuple, leaves)), tree, tuple([tree_structure(p.subtree) for p in points]))


__getattr__ = _refusing(__name__)
