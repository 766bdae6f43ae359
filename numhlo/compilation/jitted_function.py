"""What `jit` makes: a Python function that is traced once for each signature, and from then on runs compiled.

This file knows what a call goes through: split off static arguments, look the rest up in the cache, trace on a miss.
What an entry of the cache does is in `entry`, the stages that a user can hold in `stages`.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar, overload

import numhlo.library.registration  # noqa: F401 - NumPy's names get their traced meaning
from numhlo.compilation.argument_leaves import container_types, donated_leaves, leaf_names, parameter_name
from numhlo.compilation.bound_function import BoundFunction, is_class_method, is_property, is_static_instance
from numhlo.compilation.cache import Cache, CacheInfo, cache_of
from numhlo.compilation.captured_state import Guards
from numhlo.compilation.captured_walk import CapturedWalk
from numhlo.compilation.disabling import is_disabled
from numhlo.compilation.dispatch import MISS, RebindingRoute, Route
from numhlo.compilation.entry import Entry, strides_of
from numhlo.compilation.garbage import build
from numhlo.compilation.interludes import is_interlude
from numhlo.compilation.keys import CallKey, InstanceKey, describe_key, leaf_keys
from numhlo.compilation.leaks import refuse_leaks, watches_leaks
from numhlo.compilation.observer import Observer
from numhlo.compilation.programs import expect_kernels
from numhlo.compilation.signature import (
    Call,
    Selection,
    parameters_of,
    split_call,
    static_key,
)
from numhlo.compilation.traced_again import (
    Rewriting,
    abstract_arguments,
    trace_in_short,
    trace_rewritten_if_needed,
)
from numhlo.library.einops_backend import register_einops_backend
from numhlo.lowering.ir.late_modules import late
from numhlo.lowering.ir.scoped_values import settle, unsettled
from numhlo.lowering.ops.strides import SCALAR, Strides
from numhlo.switches import chosen, using
from numhlo.tracer.core.aliasing import views
from numhlo.tracer.core.arguments import LeafType, as_ndarray, leaf_type
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.short_tracebacks import short_tracebacks
from numhlo.tracer.core.trace import Trace, Tracer, Watch, current_trace, outside_traces
from numhlo.tracer.core.type_rules import type_rules
from numhlo.tracer.python.frozen_draws import refusing_draws, undisturbed
from numhlo.tracer.python.function_tracing import TracedFunction, call_traced, trace_pytree_function
from numhlo.tracer.python.plain_numpy import rewrites, run_traced
from numhlo.tracer.python.rebound_items import ContainerWatch
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from numhlo.compilation.stages import Lowered, Traced

P = ParamSpec("P")
R = TypeVar("R")
_explanations = late("numhlo.compilation.explain")
_stages = late("numhlo.compilation.stages")


class JittedFunction(Generic[P, R]):
    """A function that `jit` made: call it, or look at it.

    Attributes
    ----------
    __wrapped__ : callable
        The plain function.
    array_type : type
        Of the results.
    """

    __slots__ = ("__dict__", "__weakref__", "_words")  # native code reads the one that is no name of Python's own
    array_type: type[Array] = Array
    __name__: str

    def __init__(
        self,
        fun: Callable[P, R],
        static: Selection,
        donated: Selection,
        *,
        inline: bool,
        switches: Mapping[str, Any] | None = None,
        may_rewrite: bool = True,
    ) -> None:
        functools.update_wrapper(self, fun, updated=())
        self.__wrapped__: Callable[..., R] = fun
        self._name = getattr(fun, "__name__", type(fun).__name__).strip("<>")
        self._parameters = parameters_of(fun)
        self._static = static
        self._donated = donated
        self._inline = inline
        self._is_method = self._traced_before = False
        self._named_leaves: tuple[Any, Sequence[str]] | None = None
        self._switches = switches or {}
        self._rewriting = Rewriting(is_allowed=may_rewrite)
        self._variants: dict[frozenset[str], JittedFunction] = {}
        options = (type(self), static, donated, may_rewrite, *self._switches.items())
        self._cache = cache_of(fun, options) if isinstance(fun, FunctionType) else Cache()
        self._words = self._cache.caller.words

    @classmethod
    def like(cls, other: JittedFunction) -> Self:
        """Return a function of this class, jitted as another one is."""
        return cls(other.__wrapped__, other._static, other._donated, inline=other._inline, **other._options())

    def _options(self) -> dict[str, Any]:
        return {"switches": self._switches, "may_rewrite": self._rewriting.is_allowed}

    def __set_name__(self, owner: type, name: str) -> None:
        self._is_method = True

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> BoundFunction[R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        self._is_method = True  # class methods don't pass __set_name__ on
        return BoundFunction(self, instance)

    def __repr__(self) -> str:
        return f"<jitted {self.__wrapped__!r}>"

    def __reduce__(self) -> Any:
        """Return the name where it is found under it, as a function is; else how it is made of its function."""
        name = str(getattr(self, "__qualname__", self._name))
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        make = functools.partial(type(self), inline=self._inline, **self._options())
        return make, (self.__wrapped__, self._static, self._donated)

    def __deepcopy__(self, memo: dict[int, Any]) -> JittedFunction:
        return self

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function: compiled, or as part of the function that is being traced."""
        if not unsettled:
            for route in (routes := self._cache.routes):
                found: R = route.try_call(args, kwargs)
                if found is not MISS:
                    if route is routes[0]:
                        self._cache.let_native_code_take(route, self)
                    return found
        with short_tracebacks:
            result: R = self._call(args, kwargs)
            return result

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call through the cache."""
        if unsettled:
            settle()
        if is_disabled():
            return self.__wrapped__(*args, **kwargs)
        trace = current_trace()
        if trace is not None:
            if is_interlude(trace) and not any(isinstance(x, Tracer) for x in tree_flatten((args, kwargs))[0]):
                with outside_traces():
                    return self._call(args, kwargs)
            if self._inline:
                return self.__wrapped__(*args, **kwargs)
            return self._call_in_trace(trace, self._split(args, kwargs))
        checks = chosen("check")
        if checks is not None and "check" not in self._switches:
            return self._checked(checks)._call(args, kwargs)
        call = self._split(args, kwargs)
        leaves, tree = tree_flatten(call.arguments)
        key = self._key(call, leaves, tree)
        entry = self._cache.find(key, leaves)
        if entry is None:
            # the first run makes objects that stay, too: plans of the program's steps
            return build(lambda: self._run(call, self._find_or_make(call, key, leaves), leaves))
        return self._run(call, entry, leaves)

    def _run(self, call: Call, entry: Entry, leaves: Sequence[Any]) -> Any:
        if entry.key.engine is not None or entry.key.rules != self.usual_rules():
            pass  # calls outside of the block that chose the engine, or other rules, must not find it
        elif entry.rebound is None:
            self._cache.promote(entry, lambda: Route(entry, call))
        elif not call.statics:
            self._cache.promote(entry, lambda: RebindingRoute(entry, call))
        return entry.run(leaves, call.arguments)

    @staticmethod
    def usual_rules() -> str | None:
        """Return the name of the rules for types under which calls are, where no block binds others."""
        return None

    def _checked(self, checks: frozenset[str]) -> JittedFunction:
        """Return this function with checks that hold for a block: it has entries of its own."""
        found = self._variants.get(checks)
        if found is None:
            switches = {**self._switches, "check": checks}
            options = {**self._options(), "switches": switches}
            found = type(self)(self.__wrapped__, self._static, self._donated, inline=False, **options)
            found._is_method = self._is_method
            self._variants[checks] = found
        return found

    def _split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        static = self._static
        if args and isinstance(args[0], type):
            self._is_method = self._is_method or is_class_method(self, args[0])
        if not self._is_method and len(args) == 1 and not kwargs and is_static_instance(args[0]):
            self._is_method = is_property(self, type(args[0]))
        if self._is_method and args and is_static_instance(args[0]):
            static = Selection(static.numbers | {0}, static.names)
        return split_call(static, args, kwargs)

    def _key(self, call: Call, leaves: Sequence[Any], tree: PyTreeDef) -> CallKey:
        try:
            found = leaf_keys(leaves)
        except TypeError:
            self._leaf_types(call, leaves)  # raises again, naming the argument
            raise
        statics = tuple([(k, self._static_key(v, k)) for k, v in call.statics.items()])
        return CallKey(tree, found, statics, tree.written_orders, chosen("engine"), type_rules().name)

    def _static_key(self, value: Any, name: int | str) -> Any:
        if name == 0 and self._is_method and getattr(type(value), "__hash__", None) in {None, object.__hash__}:
            return type(value), InstanceKey(value)
        return static_key(value, name)

    def _leaf_types(self, call: Call, leaves: Sequence[Any]) -> list[LeafType]:
        try:
            return [leaf_type(x) for x in leaves]
        except (TypeError, ValueError):  # once more, to name the argument
            return [leaf_type(x, name) for x, name in zip(leaves, leaf_names(call, self._parameters), strict=True)]

    def _leaf_names(self, call: Call, tree: PyTreeDef) -> Sequence[str]:
        """Return what the argument leaves are called; calls that follow each other mostly have the same structure."""
        structure, known = (tree, tuple(call.statics)), self._named_leaves
        if known is None or known[0] != structure:
            known = self._named_leaves = structure, leaf_names(call, self._parameters)
        return known[1]

    def _find_or_make(self, call: Call, key: CallKey, leaves: Sequence[Any]) -> Entry:
        for leaf in leaves:
            if isinstance(leaf, Tracer):
                as_ndarray(leaf, "")  # raises: it was leaked

        def make(cause: Callable[[], str]) -> Entry:
            return self._make_entry(call, self._named(key), leaves, names, cause)

        names = self._leaf_names(call, key.tree)
        return self._cache.find_or_make(key, leaves, make, names)

    def _named(self, key: CallKey) -> CallKey:
        """Return a key for display: static arguments by name."""
        return key._replace(statics=tuple([(parameter_name(k, self._parameters), v) for k, v in key.statics]))

    def _make_entry(
        self, call: Call, key: CallKey, leaves: Sequence[Any], names: Sequence[str], cause: Callable[[], str]
    ) -> Entry:
        types = self._leaf_types(call, leaves)
        strides = [strides_of(x) for x in leaves]
        observer = self._observer(key, names)
        observer.explain(cause)
        with observer.timed("trace"):
            traced, guards = self._trace(call, key.tree, types, strides, names)
        layout = [(k, strides[k]) for k in traced.layouts_read]
        donated = donated_leaves(call, self._donated)
        with using(**self._switches):
            return Entry(
                self._name, key, traced, types, names, guards, layout, donated, cause, observer, self.array_type
            )

    def _observer(self, key: CallKey, names: Sequence[str]) -> Observer:
        name = self._name  # entries must not hold their function
        return Observer(name, lambda: f"{name}({describe_key(key, names)})")

    def _trace(
        self,
        call: Call,
        tree: PyTreeDef,
        types: Sequence[LeafType],
        strides: Sequence[Strides | None] = (),
        names: Sequence[str] | None = None,
    ) -> tuple[TracedFunction, Guards]:
        """Trace the function for one signature, inside the current trace if there is one."""
        if (outer := current_trace()) is not None:
            return self._trace_inside(outer, call, tree, types, strides, names)
        expect_kernels()
        traces: list[weakref.ref[Trace]] = []

        def trace(fun: Callable[..., Any], watch: Watch | None) -> tuple[TracedFunction, Guards]:
            def begun(trace: Trace) -> None:
                trace.watch = watch
                traces.append(weakref.ref(trace))

            return self._trace_now(call, tree, types, strides, names, begun, fun)

        others, rewriting = call.statics.values(), self._rewriting
        traced, guards = undisturbed(
            lambda: trace_in_short(self.__wrapped__, trace, others, rewriting, lambda: abstract_arguments(call))
        )
        if watches_leaks():
            refuse_leaks(self._name, traces[-1])
        return traced, guards

    def _trace_inside(
        self,
        outer: Trace,
        call: Call,
        tree: PyTreeDef,
        types: Sequence[LeafType],
        strides: Sequence[Strides | None],
        names: Sequence[str] | None,
    ) -> tuple[TracedFunction, Guards]:
        """Trace the function inside another trace: that of a jitted function knows by itself when to rewrite."""

        def trace(fun: Callable[..., Any], watch: Watch | None) -> tuple[TracedFunction, Guards]:
            return self._trace_now(call, tree, types, strides, names, fun=fun)

        if not self._rewriting.is_allowed:
            with rewrites.bound(None):
                return trace(self.__wrapped__, None)
        if outer.root.captured is not None or rewrites.get() is not None:
            return trace(self.__wrapped__, None)
        return trace_rewritten_if_needed(
            self.__wrapped__, trace, call.statics.values(), self._rewriting, lambda: abstract_arguments(call)
        )

    def _trace_now(
        self,
        call: Call,
        tree: PyTreeDef,
        types: Sequence[LeafType],
        strides: Sequence[Strides | None],
        names: Sequence[str] | None,
        tell: Callable[[Trace], object] = lambda trace: None,
        fun: Callable[..., Any] | None = None,
    ) -> tuple[TracedFunction, Guards]:
        fun = self.__wrapped__ if fun is None else fun
        outer = current_trace()
        root = None if outer is None else outer.root
        walk = CapturedWalk()
        places: list[Any] = []

        def prepare(trace: Trace) -> None:
            if root is None:
                trace.captured = walk
                trace.by_reference = walk.arrays()
                places.extend((trace.lifts, trace.copied))
                tell(trace)

        def body(leaves: list[Tracer]) -> Any:
            watch = ContainerWatch(given := tree_unflatten(tree, leaves))
            args, kwargs = call.merge(*given)
            watch.result = run_traced(fun, *args, **kwargs)
            return watch

        register_einops_backend()
        self._walk_into(walk, fun, call, tree)
        if root is not None and root.captured is not None:
            self._walk_into(root.captured, fun, call, tree)
            root.by_reference.update(root.captured.arrays())
        with refusing_draws(self._name, walk.generators, watches_global=not self._traced_before):
            called = self._leaf_names(call, tree) if names is None else names
            try:
                traced = trace_pytree_function(self._name, body, types, strides, called, prepare)
            except BaseException:
                walk.put_back()
                raise
            walk.refuse(walk.put_back())
        self._traced_before = True
        lifts, copied = places if root is None else (root.lifts, ())
        return traced, walk.guards(lifts, copied)

    def _walk_into(self, walk: CapturedWalk, fun: Callable[..., Any], call: Call, tree: PyTreeDef) -> None:
        walk.add_callable(fun, {parameter_name(k, self._parameters): v for k, v in call.statics.items()})
        for kind in container_types(tree):
            walk.add_class(kind)

    def _call_in_trace(self, trace: Trace, call: Call) -> Any:
        leaves, tree = tree_flatten(call.arguments)
        key = (id(self._cache), self._key(call, leaves, tree))
        for known, guards, lain in trace.root.memo.get(key, ()):
            if guards.hold() and all(_traced_strides(leaves[k]) == lain[k] for k in known.layouts_read):
                return call_traced(known, leaves, call.arguments)
        types = self._leaf_types(call, leaves)
        traced, guards = self._trace(call, tree, types)
        layout: list[Strides | None] = [None] * len(leaves)
        if any(_traced_strides(leaves[k]) is not None for k in traced.layouts_read):
            layout = [_traced_strides(x) for x in leaves]
            traced, guards = self._trace(call, tree, types, layout)
        if not any(isinstance(c, Tracer) for c in traced.captures):
            trace.root.memo.setdefault(key, []).append((traced, guards, layout))
        return call_traced(traced, leaves, call.arguments)

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for arguments, or stand-ins of their shapes and dtypes, and return the graph.

        Parameters
        ----------
        *args, **kwargs
            Arrays, numbers, `ShapeDtypeStruct`, and pytrees of them.
        """
        call = self._split(args, kwargs)
        leaves, tree = tree_flatten(call.arguments)
        key = self._named(self._key(call, leaves, tree))
        types, names, donated = (
            self._leaf_types(call, leaves),
            self._leaf_names(call, tree),
            donated_leaves(call, self._donated),
        )
        with short_tracebacks:
            traced, _ = build(lambda: self._trace(call, tree, types, [strides_of(x) for x in leaves]))

        def make_entry() -> Entry:
            observer = self._observer(key, names)
            with using(**self._switches):
                return Entry(
                    self._name,
                    key,
                    traced,
                    types,
                    names,
                    Guards(),
                    (),
                    donated,
                    _on_request,
                    observer,
                    self.array_type,
                    keeps_graph=True,
                )

        made: Traced = _stages.Traced(self._name, tree, traced, make_entry)
        return made

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace the function and return its StableHLO."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results' shapes and dtypes, as `ShapeDtypeStruct`s in their structure; nothing is computed."""
        return self.trace(*args, **kwargs).out_info

    def cache_info(self) -> CacheInfo:
        """Return how many calls the cache answered, how many were traced, and how many entries it holds."""
        return self._cache.info()

    def explain(self) -> str:
        """Return, for every entry of the cache, its signature, why it was traced, and what runs how."""
        text: str = _explanations.explain(self._name, self._cache)
        return text

    def clear_cache(self) -> None:
        """Forget all that was compiled."""
        self._cache.clear()

    def wait(self) -> None:
        """Wait until all kernels of this function are compiled."""
        for entry in self._cache.entries():
            entry.wait()


def _on_request() -> str:
    return "first: compiled on request"


def _traced_strides(leaf: Any) -> Strides | None:
    """Return how a leaf would lie in memory, as `strides_of`, if the trace around were run by NumPy."""
    if not isinstance(leaf, Tracer):
        return strides_of(leaf)
    if leaf.is_scalar and not leaf.weak:
        return SCALAR
    return None if views.is_contiguous(leaf) else views.strides_of(leaf)
