"""`Primitive`: operations of a program's own, with rules by which they are traced, differentiated and batched.

Binding one outside tracing calls its implementation. In a trace it becomes a composite that brings the rules along, and
whose decomposition is what was registered as its lowering, else its implementation, traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NoReturn, TypeVar

from numhlo.compat.jax.arrays import frozen, immutably
from numhlo.compat.jax.avals import ShapedArray, get_aval
from numhlo.compat.jax.compile_time import home_of
from numhlo.compat.jax.primitive_rules import LOWERINGS, Binding, LoweringContext, PrimitiveRule
from numhlo.lowering.ir import Function, TensorType
from numhlo.tracer.core.bind import trace_closed
from numhlo.tracer.core.custom_rules import bind_with_rule
from numhlo.tracer.core.operands import asarray
from numhlo.tracer.core.semantics import immutable_arrays
from numhlo.tracer.core.trace import Tracer, current_trace, outside_traces
from numhlo.tracer.python.plain_numpy import run_traced
from numhlo.tracer.trees.pytrees import tree_map

Rule = TypeVar("Rule", bound=Callable[..., Any])


class Primitive:
    """An operation with rules of its own.

    Parameters
    ----------
    name : str

    Attributes
    ----------
    name : str
    multiple_results : bool
        Whether rules return lists of results.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> from numhlo.compat.jax.interpreters import ad, mlir
    >>> triple = Primitive("triple")
    >>> impl = triple.def_impl(lambda x: 3 * x)
    >>> aval = triple.def_abstract_eval(lambda x: x)
    >>> ad.deflinear(triple, lambda ct: [triple.bind(ct)])
    >>> rule = mlir.register_lowering(triple, mlir.lower_fun(impl, multiple_results=False))
    >>> float(jax.grad(lambda x: triple.bind(x) ** 2)(2.0))
    36.0
    """

    multiple_results = False
    call_primitive = False
    map_primitive = False
    ref_primitive = False
    is_high_primitive = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._abstract_eval: Callable[..., Any] | None = None
        self._functions: dict[Any, Function] = {}

    def __repr__(self) -> str:
        return self.name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the operation: run it, or put it into the graph that is being traced.

        Parameters
        ----------
        *args : array_like
        **params : object
            All that is no array.

        Returns
        -------
        array, or list of array
        """
        if current_trace() is None and not any(isinstance(x, Tracer) for x in args):
            return tree_map(frozen, self.impl(*args, **params))
        home = home_of(args)  # in a block that computes at once
        with nullcontext() if home is None else home.resumed():
            results = self._in_trace(args, params)
        return results if self.multiple_results else results[0]

    def impl(self, *args: Any, **params: Any) -> Any:
        """Evaluate the operation on arrays."""
        raise NotImplementedError(f"Evaluation rule for '{self.name}' not implemented")

    def abstract_eval(self, *avals: Any, **params: Any) -> tuple[Any, set[Any]]:
        """Return the results' shapes and dtypes, and effects."""
        if self._abstract_eval is None:
            raise NotImplementedError(f"Abstract evaluation for '{self.name}' not implemented")
        found: tuple[Any, set[Any]] = self._abstract_eval(*avals, **params)
        return found

    def def_impl(self, impl: Rule) -> Rule:
        """Set what evaluates the operation; returns it."""
        self.impl = impl  # type: ignore[method-assign]
        return impl

    def def_abstract_eval(self, rule: Rule) -> Rule:
        """Set the rule that gives the results' shapes and dtypes; returns it."""
        self._abstract_eval = lambda *avals, **params: (rule(*avals, **params), set())
        return rule

    def def_effectful_abstract_eval(self, rule: Rule) -> Rule:
        """Set the rule that gives the results' shapes and dtypes, and effects; returns it."""
        self._abstract_eval = rule
        return rule

    def def_custom_bind(self, bind: Rule) -> Rule:
        """Set what `bind` does; returns it."""
        self.bind = bind  # type: ignore[method-assign]
        return bind

    def get_bind_params(self, params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return functions and parameters with which `bind` makes an equation again."""
        return [], params

    def is_effectful(self, params: dict[str, Any]) -> bool:
        """Return whether it does something beside giving results: never, for primitives of a program's own."""
        return False

    def _in_trace(self, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        avals = [get_aval(x) for x in args]
        found, _ = self.abstract_eval(*avals, **params)
        results = list(found) if self.multiple_results else [found]
        function = self._decomposition(avals, params, results)
        operands = [asarray(x) for x in args]
        return bind_with_rule(f"jax.{_plain(self.name)}", function, operands, PrimitiveRule(Binding(self, params)))

    def _decomposition(self, avals: Sequence[ShapedArray], params: dict[str, Any], results: Sequence[Any]) -> Function:
        key = (tuple(avals), tuple(sorted(params.items(), key=lambda item: item[0])), self.lowering)
        try:
            found = self._functions.get(key)
        except TypeError:  # a parameter that can't be hashed
            return self._trace(avals, params, results)
        if found is None:
            found = self._functions[key] = self._trace(avals, params, results)
        return found

    @property
    def lowering(self) -> Callable[..., Any] | None:
        """Return what was registered as the lowering."""
        return LOWERINGS.get(self)

    def _trace(self, avals: Sequence[ShapedArray], params: dict[str, Any], results: Sequence[Any]) -> Function:
        lowering = self.lowering
        types = [TensorType(a.shape, a.dtype) for a in avals]
        context = LoweringContext(self, list(avals), list(results))

        def body(*arrays: Any) -> list[Any]:
            if lowering is not None:
                made = run_traced(lowering, context, *arrays, **params)
            elif type(self).impl is getattr(self.impl, "__func__", None):
                _refuse_lowering(self)
            else:
                made = run_traced(self.impl, *arrays, **params)
                made = made if self.multiple_results else [made]
            return [_as_said(self, x, aval) for x, aval in zip(made, results, strict=True)]

        with outside_traces(), immutable_arrays():
            return trace_closed(self.name, body, types)


def _refuse_lowering(primitive: Primitive) -> NoReturn:
    raise NotImplementedError(
        f"MLIR translation rule for primitive '{primitive.name}' not found for platform cpu; "
        "give it one by mlir.register_lowering(primitive, mlir.lower_fun(function))"
    )


def _as_said(primitive: Primitive, x: Any, aval: Any) -> Any:
    array = asarray(x)
    if tuple(array.shape) != tuple(aval.shape) or array.dtype != aval.dtype:
        found = ShapedArray(array.shape, array.dtype)
        raise TypeError(f"primitive {primitive.name} gave {found}, where its abstract evaluation says {aval}")
    return array


def _plain(name: str) -> str:
    """Return a name as a composite may have it."""
    return "".join(c if c.isalnum() or c in "_$.-" else "_" for c in name)


def apply_primitive(primitive: Primitive, *args: Any, **params: Any) -> Any:
    """Evaluate a primitive by what it is lowered to.

    Parameters
    ----------
    primitive : Primitive
    *args : array_like
    **params : object
    """
    lowering = LOWERINGS.get(primitive)
    if lowering is None:
        _refuse_lowering(primitive)
    avals = [get_aval(x) for x in args]
    found, _ = primitive.abstract_eval(*avals, **params)
    results = list(found) if primitive.multiple_results else [found]
    made = immutably(lowering)(LoweringContext(primitive, avals, results), *args, **params)
    return list(made) if primitive.multiple_results else made[0]
