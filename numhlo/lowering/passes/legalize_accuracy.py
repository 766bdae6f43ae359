"""Functions with ``result_accuracy``: computed as exactly as they are asked for, or refused.

Floats of 32 bits and less are computed in f64 and rounded once, as machine code and interpreted. Functions of f64
are as exact as there are any here already, which is what HIGHEST asks for; `numhlo.lowering.ops.accuracy` knows by how
much they may be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.types import COMPLEX
from numhlo.lowering.ops import conversion, elementwise
from numhlo.lowering.ops.accuracy import C128, F64, is_met, is_rounded_once, requested, ulps_of
from numhlo.lowering.passes.legalizer import Builder, legalization

NAMES = tuple(
    f"stablehlo.{op.name}"
    for op in vars(elementwise).values()
    if isinstance(op, elementwise.Elementwise) and any(a.name == "result_accuracy" for a in op.attributes)
)


def _is_asked_for(op: Op) -> bool:
    return requested(op.attributes.get("result_accuracy")).mode != "DEFAULT"


@legalization(*NAMES, when=_is_asked_for)
def legalize_accuracy(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Compute in f64 and round, or as it is where it is f64 already."""
    (operand,), dtype = operands, op.result.tensor.dtype
    _require_met(op, dtype)
    if not is_rounded_once(dtype):
        return [b.op(op.definition, operand)]
    wide = b.op(conversion.CONVERT, operand, result=operand.tensor.with_dtype(C128 if dtype in COMPLEX else F64))
    return [b.op(conversion.CONVERT, b.op(op.definition, wide), result=op.result.tensor)]


def _require_met(op: Op, dtype: np.dtype) -> None:
    wanted, name = requested(op.attributes["result_accuracy"]), op.definition.name
    if wanted.mode != "TOLERANCE":
        return
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype in COMPLEX else dtype
    digits = int(ml_dtypes.finfo(part).nmant) + 1  # type: ignore[no-untyped-call]
    if dtype in COMPLEX or not is_met(name, dtype, wanted, digits):
        asked = f"atol {wanted.atol:g}, rtol {wanted.rtol:g}, {wanted.ulps} ulps"
        known = "complex functions have no bound" if dtype in COMPLEX else f"it is within {ulps_of(name, dtype)} ulps"
        raise UnsupportedError(
            f"{name} of {dtype.name} with result_accuracy of {asked} can't be promised",
            where=op.location,
            why=known,
            fix="ask for mode HIGHEST, which is as exact as there is",
        )
