"""`jax.api_util`: functions of pytrees as functions of flat arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.avals import get_aval as shaped_abstractify
from numhlo.compat.jax.extend.linear_util import Store, WrappedFun, transformation_with_aux2
from numhlo.tracer.transformations.vectorizing import spread_prefix
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_unflatten

__all__ = [
    "argnums_partial", "debug_info", "flatten_axes", "flatten_fun", "flatten_fun_nokwargs", "rebase_donate_argnums",
    "safe_map", "shaped_abstractify",
]  # fmt: skip


class DebugInfo(NamedTuple):
    """What a traced function is called, and what its arguments are.

    Attributes
    ----------
    traced_for, func_src_info : str
    arg_names : tuple of str
    result_paths : tuple of str or None
    """

    traced_for: str
    func_src_info: str
    arg_names: tuple[str, ...]
    result_paths: tuple[str, ...] | None = None


def debug_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    **further: Any,
) -> DebugInfo:
    """Return what a function and its arguments are called."""
    try:
        names = tuple(inspect.signature(fun).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        names = tuple(f"args[{k}]" for k in range(len(args)))
    return DebugInfo(traced_for, getattr(fun, "__qualname__", repr(fun)), names)


def safe_map(function: Callable[..., Any], *lists: Iterable[Any]) -> list[Any]:
    """Return the list of a function's results; the arguments' lists must have one length.

    Examples
    --------
    >>> safe_map(max, [1, 5], [3, 4])
    [3, 5]
    """
    return [function(*items) for items in zip(*lists, strict=True)]


@transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Store, in_tree: PyTreeDef, *leaves: Any) -> list[Any]:
    """Transform a function of ``(args, kwargs)`` of a structure to one of leaves, which leaves the result's behind."""
    args, kwargs = tree_unflatten(in_tree, leaves)
    results, tree = tree_flatten(f(*args, **kwargs))
    store.store(tree)
    return results


@transformation_with_aux2
def flatten_fun_nokwargs(f: Callable[..., Any], store: Store, in_tree: PyTreeDef, *leaves: Any) -> list[Any]:
    """Transform a function of arguments of a structure to one of leaves, which leaves the result's behind."""
    results, tree = tree_flatten(f(*tree_unflatten(in_tree, leaves)))
    store.store(tree)
    return results


def argnums_partial(
    f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[Any], require_static_args_hashable: bool = True
) -> tuple[WrappedFun, tuple[Any, ...]]:
    """Return a function of some arguments, the others fixed, and these arguments.

    Parameters
    ----------
    f : WrappedFun
    dyn_argnums : int or sequence of int
    args : sequence
    require_static_args_hashable : bool, optional
        Raise `ValueError` for fixed arguments without a hash.
    """
    chosen = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    numbers = [n % len(args) for n in chosen]
    if require_static_args_hashable:
        for k, x in enumerate(args):
            if k not in numbers and getattr(type(x), "__hash__", None) is None:
                raise ValueError(f"Non-hashable static arguments are not supported: argument {k}, {type(x)}")

    def call(*given: Any, **kwargs: Any) -> Any:
        values = dict(zip(numbers, given, strict=True))
        return f.call_wrapped(*[values.get(k, x) for k, x in enumerate(args)], **kwargs)

    return f.wrap(call), tuple(args[n] for n in numbers)


def flatten_axes(name: str, treedef: PyTreeDef, axis_tree: Any, *, kws: bool = False, tupled_args: bool = False) -> Any:
    """Return axes, given for a prefix of a structure, for each leaf of it.

    Examples
    --------
    >>> from numhlo.compat.jax.tree_util import tree_structure
    >>> flatten_axes("vmap", tree_structure(([1, 2], 3)), (0, None))
    [0, 0, None]
    """
    return spread_prefix(axis_tree, tree_unflatten(treedef, range(treedef.num_leaves)), name)


def rebase_donate_argnums(donate_argnums: Sequence[int], static_argnums: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of donated arguments among those that are not static.

    Examples
    --------
    >>> rebase_donate_argnums((2,), (0,))
    (1,)
    """
    return tuple(sorted(d - sum(s < d for s in static_argnums) for d in donate_argnums))


__getattr__ = _refusing(__name__)
