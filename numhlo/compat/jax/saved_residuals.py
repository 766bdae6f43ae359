"""`jax.ad_checkpoint.print_saved_residuals`: what a function's reverse mode keeps, and where that is made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.compat.jax.transformations import traced_immutably
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops.annotations import CHECKPOINT_NAME
from numhlo.tracer.core.bind import trace_function
from numhlo.tracer.core.operands import asarray, shape_of
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.differentiation.table import is_differentiable
from numhlo.tracer.transformations.differentiating import linearize_function
from numhlo.tracer.transformations.staging import stage_leaves
from numhlo.tracer.trees.pytree_keys import keystr
from numhlo.tracer.trees.pytree_paths import tree_flatten_with_path
from numhlo.tracer.trees.pytrees import tree_unflatten


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the type and the origin of each array that reverse mode keeps of a call.

    Parameters
    ----------
    f : callable
    *args, **kwargs : pytrees of arrays

    Examples
    --------
    >>> import numhlo.numpy as jnp
    >>> print_saved_residuals(lambda x, y: x * jnp.exp(y), jnp.float32(2), jnp.float32(3))  # doctest: +ELLIPSIS
    f32[] from the argument x
    f32[] output of exponential from ...
    """
    for value, name in _residuals(f, args, kwargs):
        print(f"{_short(value.tensor)} {_origin(value, name)}")  # noqa: T201 - that is what it is for


def _residuals(f: Callable[..., Any], args: Any, kwargs: Any) -> list[tuple[Value, str | None]]:
    """Return the values that are kept, each with the name of the argument that it is."""
    pairs, tree = tree_flatten_with_path((args, kwargs))
    leaves = [asarray(x) for _, x in pairs]
    found: list[Any] = []

    def body(*arrays: Any) -> Any:
        given, named = tree_unflatten(tree, arrays)
        return traced_immutably(f)(*given, **named)

    def run(*arrays: Any) -> list[Any]:
        staged = stage_leaves(body, arrays, getattr(f, "__name__", "function"), differentiates=True)
        active = [is_differentiable(x.dtype) for x in arrays] + [False] * len(staged.captures)
        results, linear = linearize_function(staged.function, [*arrays, *staged.captures], active)
        found.extend(x.value() for x in linear.residuals if isinstance(x, Tracer))
        return results

    function, _ = trace_function("residuals", run, [TensorType(shape_of(x), x.dtype) for x in leaves])
    words = _words(f, args, kwargs)
    names = {v: _name(path, words) for v, (path, _) in zip(function.body.arguments, pairs, strict=False)}
    ordered = [v for v in names if v in found] + [v for v in dict.fromkeys(found) if v not in names]
    return [(v, names.get(v)) for v in ordered]


def _words(f: Callable[..., Any], args: Any, kwargs: Any) -> list[str]:
    """Return what the parameters that take positional arguments are called; ``args[0]`` where that is not known."""
    try:
        names = [*inspect.signature(f).bind(*args, **kwargs).signature.parameters.values()]
    except (TypeError, ValueError):
        names = []
    named = [p.name for p in names if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [named[k] if k < len(named) else f"args[{k}]" for k in range(len(args))]


def _name(path: tuple[Any, ...], words: list[str]) -> str:
    side, first, *rest = path
    name: str = first.key if side.idx else words[first.idx]
    return name + keystr(tuple(rest))


def _origin(value: Value, name: str | None) -> str:
    if name is not None:
        return f"from the argument {name}"
    op = value.owner
    if _is_constant(value):
        return "from a constant"
    assert isinstance(op, Op)
    if op.attributes.get("name") == CHECKPOINT_NAME.name:
        return f"named {op.attributes['composite_attributes']['name']!r} from {_place(op)}"
    return f"output of {op.attributes.get('name', op.definition.name)} from {_place(op)}"


def _is_constant(value: Value) -> bool:
    op = value.owner
    return isinstance(op, Op) and all(map(_is_constant, op.operands)) and not op.regions


def _place(op: Op) -> str:
    where = op.location
    return f"{where.filename}:{where.line} ({where.function})"


def _short(type: TensorType) -> str:
    """Return a type as JAX writes it: ``f32[2,3]``."""
    kind = "bool" if type.dtype == np.bool_ else f"{type.dtype.kind}{type.dtype.itemsize * 8}"
    return f"{kind}[{','.join(map(str, type.shape))}]"
