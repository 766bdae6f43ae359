"""What comes before everything else that looks at a program from outside: ops that only such programs have go.

Traced programs have none of them, so `pipeline` does without this module.
"""

from __future__ import annotations

from numhlo.lowering.ir import Function
from numhlo.lowering.passes import (
    legalize_accuracy,
    legalize_chlo,
    legalize_chlo_functions,
    legalize_collectives,
    legalize_composites,
    legalize_custom_calls,
    legalize_deprecated,
    legalize_dot_algorithms,
    legalize_einsum,
    legalize_normalization,
    legalize_promotion,
    legalize_windows,
)
from numhlo.lowering.passes.legalizer import Condition, Legalizer

LEGALIZATIONS = (
    legalize_accuracy,
    legalize_chlo,
    legalize_chlo_functions,
    legalize_collectives,
    legalize_composites,
    legalize_custom_calls,
    legalize_deprecated,
    legalize_dot_algorithms,
    legalize_einsum,
    legalize_normalization,
    legalize_promotion,
    legalize_windows,
)
"""The modules whose rules the legalizer applies; importing them registers the rules."""


def legalize(function: Function, *, is_kept: Condition | None = None) -> Function:
    """Return a function that means the same in ops that every room knows: no CHLO, nothing deprecated.

    Parameters
    ----------
    function : Function
        Left unchanged, and returned as it is where there is nothing to replace.
    is_kept : callable, optional
        Says which ops stay: those of several processes are replaced by what they are in one.
    """
    return Legalizer(is_kept).function(function)
