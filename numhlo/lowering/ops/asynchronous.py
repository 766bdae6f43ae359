"""Asynchronous pairs: ``async_start`` begins what its region says and returns a future, ``async_done`` waits for it.

A process here does one thing after the other, so the region is run where it begins, and a future is its results
already (`numhlo.lowering.passes.flatten_values` takes futures out). The specification does not describe the two; these
are the rules of the official verifier.
"""

from __future__ import annotations

from numhlo.lowering.ir import Op
from numhlo.lowering.ir.errors import VerificationError

START, DONE = "async_start", "async_done"
FUTURE = "!stablehlo.future<"


def is_asynchronous(op: Op, name: str = "") -> bool:
    """Return whether an op is one of the pair, or that one of the two which is named."""
    return op.definition.dialect == "stablehlo" and op.definition.name in ((name,) if name else (START, DONE))


def check_asynchronous(op: Op) -> None:
    """Require that a region fits the operands, and that a future holds what it returns.

    Raises
    ------
    VerificationError
        If one doesn't.
    """
    if op.definition.name == START:
        fits = len(op.regions) == len(op.results) == 1
        _require(op, fits, "it has one region and returns one future")
        (region,) = op.regions
        taken, given = [v.type for v in region.arguments], [v.type for v in op.operands]
        _require(op, taken == given, "its region must take values of the operands' types")
        inner, future = [v.type for v in region.returns], op.results[0].type
    else:
        _require(op, len(op.operands) == 1 and not op.regions, "it takes one future")
        inner, future = [v.type for v in op.results], op.operands[0].type
    spelled = f"{FUTURE}{', '.join(map(str, inner))}>"
    same = "".join(str(future).split()) == "".join(spelled.split())
    _require(op, same, f"the future must be a {spelled}, not {future}")


def _require(op: Op, condition: bool, rule: str) -> None:
    if not condition:
        shown = ", ".join(str(v.type) for v in op.operands)
        raise VerificationError(f"{op.definition.name}({shown}): {rule}", where=op.location)
