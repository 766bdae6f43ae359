"""The order of passes, and the callback between them that dumping, timing and verification need.

Programs from outside go through `legalization` before; what was traced has nothing to legalize.
"""

from __future__ import annotations

from collections.abc import Callable

from numhlo.lowering.ir import Function
from numhlo.lowering.passes import (
    simplify_arithmetic,
    simplify_contraction,
    simplify_control_flow,
    simplify_custom_calls,
    simplify_indexing,
    simplify_layout,
    simplify_library_calls,
)
from numhlo.lowering.passes.dead_ops import remove_dead_ops
from numhlo.lowering.passes.outlining import find_outlined
from numhlo.lowering.passes.rewriting import Rewriter
from numhlo.lowering.passes.user_passes import USER_PASSES

FAMILIES = (
    simplify_arithmetic,
    simplify_contraction,
    simplify_control_flow,
    simplify_custom_calls,
    simplify_indexing,
    simplify_layout,
    simplify_library_calls,
)
"""The modules whose patterns the rewriter applies; importing them registers the patterns."""

Observer = Callable[[str, Function], None]


def optimize(function: Function, *, after_pass: Observer | None = None) -> Function:
    """Return an equivalent function with calls inlined, ops simplified, constants folded and dead ops removed.

    Calls stay where inlining them all would make the program too large: see `find_outlined`.

    Parameters
    ----------
    function : Function
        Left unchanged.
    after_pass : callable, optional
        Called with each pass's name and its result: of numhlo's own, of those that users added, and of its own again.

    Notes
    -----
    Rewrites respect IEEE 754: signed zeros, infinities and NaN come out as the program says. One walk is enough: it
    sees operands rewritten, and applies the patterns again to what they make.
    """
    if not USER_PASSES:
        return _simplified(function, after_pass)
    function = _simplified(function, after_pass, keeps_extensions=True)
    for one in USER_PASSES:
        function = one(function)
        if after_pass is not None:
            after_pass(one.name, function)
    return _simplified(function, after_pass)


def _simplified(function: Function, after_pass: Observer | None, *, keeps_extensions: bool = False) -> Function:
    rewriter = Rewriter(keeps_extensions=keeps_extensions)
    rewriter.outline(find_outlined(function))
    function = rewriter.function(function)
    if after_pass is not None:
        after_pass("rewrite", function)
    remove_dead_ops(function.body)
    if after_pass is not None:
        after_pass("remove_dead_ops", function)
    return function
