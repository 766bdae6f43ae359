"""Policies of `checkpoint`: what a checkpointed function keeps for the way back.

A policy is asked about each op of the function: ``policy(primitive, *types, **attributes) -> bool``. The primitive has
a ``name``, StableHLO's, such as ``"dot_general"``; that of a named value is ``"numhlo.checkpoint_name"``, with the
attribute ``name``.
"""

from __future__ import annotations

from collections.abc import Callable

from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.annotations import ANNOTATIONS, CHECKPOINT_NAME
from numhlo.lowering.ops.loops import reached_bodies

Policy = Callable[..., bool]


def wanted_values(function: Function, policy: Policy | None) -> list[Value]:
    """Return the values that a policy keeps: of a function's body, and of the bodies inside that run once a step.

    A value that is named and not kept is not kept under its own name either.
    """
    if policy is None:
        return []
    kept: list[Value] = []
    refused: set[Value] = set()
    times = reached_bodies(function.body)
    for body in times:
        _ask(policy, body, kept, refused)
    several = reached_bodies(*[body for body, count in times.items() if count > 1])
    shared = {v for body in several for op in body.ops for v in op.results}
    return [v for v in kept if v not in refused and v not in shared and _is_computed(v)]


def _ask(policy: Policy, body: Region, kept: list[Value], refused: set[Value]) -> None:
    for op in body.ops:
        annotation = ANNOTATIONS.get(op.attributes.get("name", "")) if op.definition is control_flow.COMPOSITE else None
        primitive = op.definition if annotation is None else annotation
        attributes = op.attributes if annotation is None else op.attributes.get("composite_attributes", {})
        if policy(primitive, *[v.type for v in op.operands], **attributes):
            kept += op.results
        elif annotation is CHECKPOINT_NAME:
            refused.update(op.operands)


def _is_computed(value: Value) -> bool:
    return isinstance(value.owner, Op) and bool(value.owner.operands)
