"""Named composites: text of those that vector math computes directly (erf, sinh, ...), kernels of others by name.

A composite that has neither is planned as its decomposition says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.backend import vector_math
from numhlo.backend.emit.elementwise import register_of
from numhlo.backend.emit.tables import ELEMENT, KERNELS, UNEMITTED, RootRule
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.composites import COMPOSITES
from numhlo.lowering.ops.control_flow import COMPOSITE

NAMESPACE = "numhlo."

COMPOSITE_KERNELS: dict[str, RootRule] = {}
"""Rules of composites that have kernels of their own, by name; `cumulative` and others fill it."""


def _rule(op: Op) -> RootRule | None:
    return COMPOSITE_KERNELS.get(op.attributes["name"])


def has_kernels(op: Op) -> bool:
    """Return whether a composite is emitted as kernels of its own."""
    rule = _rule(op)
    return rule is not None and not rule.refuse(op)


def is_library_call(op: Op) -> bool:
    """Return whether a composite runs by its definition on NumPy, a library doing the work."""
    definition = COMPOSITES.get(op.attributes["name"])
    return definition is not None and definition.is_library


def _refuse(op: Op) -> str:
    rule = _rule(op)
    return f"composite {op.attributes['name']} has no kernel" if rule is None else rule.refuse(op)


def _emit(op: Op, planner: Any) -> None:
    COMPOSITE_KERNELS[op.attributes["name"]](op, planner)


KERNELS.register(COMPOSITE)(
    RootRule(
        _emit,
        refuse=_refuse,
        fusible=lambda op: COMPOSITE_KERNELS[op.attributes["name"]].fusible(op),
        apart=lambda op: (rule := _rule(op)) is not None and rule.apart(op),
    )
)


@ELEMENT.register(COMPOSITE)
def emit_composite(op: Op, operands: Sequence[str]) -> str:
    """Return a call of the function of vector math that has the composite's name, if there is one."""
    name: str = op.attributes["name"]
    if not name.startswith(NAMESPACE) or len(op.results) != 1 or not operands:
        return UNEMITTED
    word = f"{name.removeprefix(NAMESPACE)}_{register_of(op).name}"
    return f"{word}({', '.join(operands)})" if hasattr(vector_math, word) else UNEMITTED
