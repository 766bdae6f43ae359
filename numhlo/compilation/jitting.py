"""What `jit` returns: a function, with options that are read and checked, that is traced and compiled when called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from numhlo.compilation.jitted_function import JittedFunction
from numhlo.compilation.programs import load_backend
from numhlo.compilation.signature import Names, Numbers, parameters_of, select
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.late_modules import late
from numhlo.switches import SWITCHES
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.python.autograph.rewriting import autographed

if TYPE_CHECKING:
    from numhlo.compilation.laid_out_function import InLayouts, OutLayouts

_layouts = late("numhlo.compilation.laid_out_function")


def jitted(  # noqa: PLR0913 - options by keyword
    fun: Callable[..., Any],
    *,
    static_argnums: Numbers,
    static_argnames: Names,
    donate_argnums: Numbers,
    donate_argnames: Names,
    inline: bool,
    tier0: bool | None,
    check: str | Iterable[str] | None,
    autograph: bool | None,
    layouts: tuple[InLayouts, OutLayouts],
) -> JittedFunction[..., Any]:
    """Return a function jitted; parameters and errors are those of `numhlo.jit`."""
    require_callable(fun, "jit: fun", fix="pass a function, or use jit as a decorator")
    if not isinstance(autograph, bool | None):
        raise ArgumentError(f"jit: autograph={autograph!r}", where=capture_location(), fix="give True, False or None")
    fun = autographed(fun) if autograph else fun
    parameters = parameters_of(fun)
    static = select(parameters, static_argnums, static_argnames, "static_")
    donated = select(parameters, donate_argnums, donate_argnames, "donate_")
    load_backend()
    given = {"tier0": tier0, "check": check}
    switches = {name: SWITCHES[name].read(value, name) for name, value in given.items() if value is not None}
    options: dict[str, Any] = {"inline": inline, "switches": switches, "may_rewrite": autograph is not False}
    if layouts == (None, None):
        return JittedFunction(fun, static, donated, **options)
    found: JittedFunction[..., Any] = _layouts.LaidOutFunction(fun, static, donated, layouts=layouts, **options)
    return found
