"""Rules that a program brings along: how one composite, made by the user's function, is differentiated and batched.

A rule is found by the identity of the composite's decomposition, the function as it was traced, so that redefining the
user's function never mixes them up. This file knows the contract; `custom_forward`, `custom_backward`,
`custom_batching` and `checkpointing` make the rules.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Sequence
from typing import Any, Generic

from numhlo.lowering.ir import Function, Op
from numhlo.lowering.ir.type_variables import TypeVar
from numhlo.lowering.ops import control_flow
from numhlo.tracer.core.bind import bind
from numhlo.tracer.core.lanes import Lanes

WalkerT = TypeVar("WalkerT", default=Any)
"""What runs a graph forward with tangents: `numhlo.tracer.differentiation.table.Walker`."""


class CustomRule(Generic[WalkerT]):
    """How a composite is differentiated, where its decomposition's ops should not decide."""

    def differentiate(
        self, walker: WalkerT, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the results and their tangents (None for zero); at least one operand has a tangent."""
        raise NotImplementedError

    def batched(self, size: int) -> CustomRule | None:
        """Return the rule of the composite on lanes, all operands mapped; None: that of its ops will do."""
        raise NotImplementedError

    def among_devices(self, operands: Sequence[Hashable], results: Sequence[Hashable]) -> CustomRule:
        """Return the rule for devices of a mesh, given along which axes operands and results differ: frozen sets."""
        return self

    def batch(self, op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes] | None:
        """Return the results on lanes; None where the ops are run on lanes, and `batched` is the rule of that."""
        return None


class LinearRule:
    """How a composite that is linear in some operands is run backwards."""

    def transpose(self, op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        """Return the cotangents of the operands, as a transposition rule does."""
        raise NotImplementedError


_RULES: weakref.WeakKeyDictionary[Function, CustomRule | LinearRule] = weakref.WeakKeyDictionary()


def custom_rule(op: Op) -> CustomRule | None:
    """Return the rule that a composite brings along, or None."""
    found = _RULES.get(op.attributes["decomposition"])
    return found if isinstance(found, CustomRule) else None


def linear_rule(op: Op) -> LinearRule | None:
    """Return the rule by which a linear composite is transposed, or None where its ops are."""
    found = _RULES.get(op.attributes["decomposition"])
    return found if isinstance(found, LinearRule) else None


def set_rule(function: Function, rule: CustomRule | LinearRule | None) -> None:
    """Let a function bring a rule along, if there is one."""
    if rule is not None:
        _RULES[function] = rule


def bind_with_rule(
    name: str, function: Function, operands: Sequence[Any], rule: CustomRule | LinearRule | None
) -> list[Any]:
    """Apply a function as a composite that brings a rule along.

    Parameters
    ----------
    name : str
        The composite's, with its namespace.
    function : Function
        What it computes.
    operands : sequence
    rule : CustomRule or LinearRule, optional
    """
    set_rule(function, rule)
    attributes = {"name": name, "decomposition": function}
    return bind(control_flow.COMPOSITE, *operands, attributes=attributes, results=function.result_types)
