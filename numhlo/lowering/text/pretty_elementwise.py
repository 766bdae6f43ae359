"""Pretty form of elementwise ops: operands, then one type where all are equal."""

from __future__ import annotations

from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.primitive import PRIMITIVES
from numhlo.lowering.text.keyword_form import register

for _definition in list(PRIMITIVES.values()):
    if isinstance(_definition, elementwise.Elementwise) and _definition.dialect == "stablehlo":
        if _definition is elementwise.COMPLEX:
            register(_definition, "result")
        else:
            register(_definition, "function" if _definition is elementwise.IS_FINITE else "same")
