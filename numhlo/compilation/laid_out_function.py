"""Jitted functions whose arguments and results have layouts: what is compiled is a function of transposed arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from numhlo.compilation.cache import CacheInfo
from numhlo.compilation.jitted_function import JittedFunction
from numhlo.compilation.memory_orders import MODE, order_of, restored, transposed
from numhlo.compilation.signature import Selection
from numhlo.compilation.stages import Traced
from numhlo.lowering.ir import Type, capture_location
from numhlo.lowering.ir.errors import ArgumentError, ConcretizationError, DrawError, UnsupportedError
from numhlo.lowering.ops.memory_layouts import Layout
from numhlo.tracer.core.operands import asarray
from numhlo.tracer.core.trace import current_trace
from numhlo.tracer.python.autograph.rewriting import autographed

InLayouts: TypeAlias = Sequence[Layout | None] | None
"""Of the positional arguments, which are arrays; None for C's order."""

OutLayouts: TypeAlias = Layout | Sequence[Layout | None] | None
"""Of the result, or of the elements of a tuple of results."""


class LaidOutFunction(JittedFunction[..., Any]):
    """A jitted function with layouts.

    In traces, and where only its graph is looked at, it is the plain function, jitted. Calls are those of a jitted
    function of transposed arrays, which calls the plain one.

    Parameters
    ----------
    fun : callable
        The plain function.
    static, donated : Selection
    layouts : (sequence, Layout or sequence)
        Of arguments and results.
    **options
        As of `JittedFunction`.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        static: Selection,
        donated: Selection,
        *,
        layouts: tuple[InLayouts, OutLayouts] = (None, None),
        **options: Any,
    ) -> None:
        super().__init__(fun, static, donated, **options)
        self._layouts = layouts
        self._in = [_require_layout(one, "in_layouts") for one in layouts[0] or ()]
        self._out = _out_layouts(layouts[1])
        self._calls = self._calls_of(super().__call__)
        self._is_rewritten = not self._rewriting.is_allowed

    def _calls_of(self, plain: Callable[..., Any]) -> JittedFunction[..., Any]:
        """Return what is called with transposed arrays: it calls the plain function while it is traced."""
        options: dict[str, Any] = {"inline": False, "switches": self._switches, "may_rewrite": False}
        return JittedFunction(self._of_transposed(plain), self._static, self._donated, **options)

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "layouts": self._layouts}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: on arrays in memory, or as part of a trace, where values have no layouts."""
        if current_trace() is not None:
            return super().__call__(*args, **kwargs)
        given = [self._argument(x, k) for k, x in enumerate(args)]
        try:
            return self._restored(self._calls(*given, **kwargs))
        except ConcretizationError as error:
            if self._is_rewritten or isinstance(error, DrawError):
                raise
            self._rewrite(error)
        return self._restored(self._calls(*given, **kwargs))

    def _rewrite(self, error: ConcretizationError) -> None:
        """Let control flow on traced values be rewritten from now on, as it was needed."""
        self._is_rewritten = True
        try:
            fun = autographed(self.__wrapped__)
        except ArgumentError:
            raise error from None
        options: dict[str, Any] = {"inline": self._inline, "switches": self._switches, "may_rewrite": False}
        self._calls = self._calls_of(JittedFunction(fun, self._static, self._donated, **options))

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function, and return the graph, whose text says the layouts."""
        found = super().trace(*args, **kwargs)
        main = found.module.main
        main.argument_attributes = _modes(self._in, main.argument_types)
        main.result_attributes = _modes(self._out[0], main.result_types)
        found._make_entry = _refuse_stage
        return found

    def explain(self) -> str:
        """Return, for every entry of the cache, its signature, why it was traced, and what runs how."""
        return self._calls.explain()

    def cache_info(self) -> CacheInfo:
        """Return how many calls the cache answered, how many were traced, and how many entries it holds."""
        return self._calls.cache_info()

    def clear_cache(self) -> None:
        """Forget all that was compiled."""
        super().clear_cache()
        self._calls.clear_cache()

    def wait(self) -> None:
        """Wait until all kernels of this function are compiled."""
        self._calls.wait()

    def _argument(self, x: Any, number: int) -> Any:
        layout = _at(self._in, number)
        return x if layout is None else transposed(_array_of(x, layout, f"argument {number}"), order_of(layout))

    def _restored(self, result: Any) -> Any:
        layouts, single = self._out
        if single:
            return restored(result, order_of(layouts[0]))
        parts = [restored(x, order_of(_at(layouts, k))) for k, x in enumerate(result)] if layouts else result
        return type(result)(parts) if layouts else result

    def _of_transposed(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function of transposed arrays, with the plain one's name and signature."""

        def of_transposed(*args: Any, **kwargs: Any) -> Any:
            given = [restored(x, order_of(_at(self._in, k))) for k, x in enumerate(args)]
            result = plain(*given, **kwargs)
            layouts, single = self._out
            if single:
                return _laid_out(result, layouts[0], "the result")
            if not layouts:
                return result
            if not isinstance(result, tuple | list) or len(result) != len(layouts):
                shown = f"a tuple of {len(result)}" if isinstance(result, tuple | list) else type(result).__name__
                raise ArgumentError(
                    f"jit: out_layouts has {len(layouts)} layouts, and the function returned {shown}",
                    where=capture_location(),
                    fix="give one for each element of a tuple of results, None for C's order",
                )
            parts = enumerate(zip(result, layouts, strict=True))
            return type(result)([_laid_out(x, layout, f"result {k}") for k, (x, layout) in parts])

        functools.update_wrapper(of_transposed, self.__wrapped__, updated=())
        del of_transposed.__wrapped__  # type: ignore[attr-defined] # else its source is taken for the function's
        of_transposed.__signature__ = inspect.signature(self.__wrapped__)  # type: ignore[attr-defined]
        return of_transposed


def _modes(layouts: Sequence[Layout | None], types: Sequence[Type]) -> list[dict[str, Any]]:
    """Return the attributes that say layouts of arguments or results; none where nothing is to be said."""
    found = [{} if _at(layouts, k) is None else {MODE: str(_at(layouts, k))} for k in range(len(types))]
    return found if any(found) else []


def _refuse_stage() -> NoReturn:
    raise UnsupportedError(
        "compiling a lowered function with layouts",
        where=capture_location(),
        why="the stage is the program as others take it, in which layouts are attributes",
        fix="call the jitted function, or numhlo.stablehlo.parse(lowered.as_text()).callable()",
    )


def _at(layouts: Sequence[Layout | None], number: int) -> Layout | None:
    return layouts[number] if number < len(layouts) else None


def _require_layout(given: Any, option: str) -> Layout | None:
    if given is None or isinstance(given, Layout):
        return given
    raise ArgumentError(
        f"jit: {option} has {given!r}", where=capture_location(), fix="give a numhlo.Layout, or None for C's order"
    )


def _out_layouts(given: Any) -> tuple[Sequence[Layout | None], bool]:
    """Return layouts of results, and whether there is one result that is no tuple."""
    if given is None:
        return (), False
    if isinstance(given, Layout):
        return (given,), True
    if not isinstance(given, tuple | list):
        _require_layout(given, "out_layouts")
    return [_require_layout(one, "out_layouts") for one in given], False


def _array_of(x: Any, layout: Layout, what: str) -> Any:
    array = x if hasattr(x, "ndim") and hasattr(x, "transpose") else np.asarray(x)
    if array.ndim != layout.ndim:
        raise ArgumentError(
            f"jit: the layout {layout} of {what}, which has {array.ndim} dimensions",
            where=capture_location(),
            why="a layout has each dimension once, from the fastest to the slowest",
        )
    return array


def _laid_out(x: Any, layout: Layout | None, what: str) -> Any:
    if layout is None:
        return x
    return transposed(_array_of(asarray(x), layout, what), order_of(layout))
