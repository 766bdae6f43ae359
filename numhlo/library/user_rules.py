"""Users' rules of custom calls and ops as the tracer's: what they get and give is checked, and named in messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from numhlo.library.transformations.custom_call_arguments import of_types, pair_of
from numhlo.lowering.ir import Op, capture_location
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.lowering.ops.custom_calls import UserRules
from numhlo.lowering.ops.implementations import options_of
from numhlo.lowering.ops.memory_layouts import Layout
from numhlo.lowering.text.foreign import ForeignAttribute
from numhlo.tracer.building import (
    Lanes,
    asarray,
    bind,
    broadcast_to_shape,
    expand,
    full_of,
    replay_op,
    require_callable,
    run_traced,
    shape_of,
)

Batching: TypeAlias = Literal["sequential", "expand_dims", "broadcast_all"] | Callable[..., Any]
METHODS = ("sequential", "expand_dims", "broadcast_all")

Options = Callable[[Op], dict[str, Any]]
"""What rules get by keyword."""


def options_of_call(op: Op) -> dict[str, Any]:
    """Return the options of a custom call."""
    return options_of(op.attributes)


def as_rules(
    what: str,
    batching: Batching,
    jvp: Callable[..., Any] | None,
    transpose: Callable[..., Any] | None,
    linear: Sequence[int] | None,
    options: Options = options_of_call,
) -> UserRules:
    """Return users' rules with the contracts of the tracer's tables.

    Parameters
    ----------
    what : str
        What they are rules of, for messages.
    batching, jvp, transpose, linear
        As of `custom_call`.
    options : callable
        Gives what rules get by keyword.

    Raises
    ------
    ArgumentError
        If there is no such method, or a rule has no use.
    """
    if not callable(batching) and batching not in METHODS:
        raise ArgumentError(
            f"{what}: batching={batching!r}",
            where=capture_location(),
            fix=f"give one of {', '.join(map(repr, METHODS))}, or a function",
        )
    for name, rule in (("jvp", jvp), ("transpose", transpose)):
        if rule is not None:
            require_callable(rule, f"{what}: {name}")
    if linear is not None and (jvp is not None or transpose is None):
        raise ArgumentError(
            f"{what}: linear={tuple(linear)!r}",
            where=capture_location(),
            why="it says which operands have the call itself as derivative, and transpose as the way back",
            fix="give transpose with it, and no jvp",
        )
    rules = _Rules(what, options)
    batch = rules.batch_by(batching) if callable(batching) else rules.batch_whole(batching)
    forward = rules.jvp_by(jvp) if jvp is not None else rules.jvp_of_linear(linear) if transpose is not None else None
    return UserRules(batch, forward, None if transpose is None else rules.transpose_by(transpose))


class _Rules:
    """Makes the tracer's rules of one name."""

    def __init__(self, what: str, options: Options) -> None:
        self.what, self.options = what, options

    def batch_whole(self, method: str) -> Callable[..., Any] | None:
        """Return the rule of one call for all examples; None where each has its own call."""
        if method == "sequential":
            return None

        def batch(op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes]:
            given = [x.array if x.mapped else expand(x.array, 0) for x in operands]
            if method == "broadcast_all":
                given = [broadcast_to_shape(x, (size, *shape_of(x)[1:])) for x in given]
            results = [v.tensor.with_shape((size, *v.tensor.shape)) for v in op.results]
            attributes = _with_leading_axis(op.attributes)
            declared = results if op.definition.explicit_result else None
            found = bind(op.definition, *given, attributes=attributes, results=declared)
            for x, type in zip(found, results, strict=True):
                self._require_shape(shape_of(x), type.shape, "a whole batch gives")
            return [Lanes(x, True) for x in found]

        return batch

    def batch_by(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Return the tracer's rule of a user's."""

        def batch(op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes]:
            arrays, flags = [x.array for x in operands], [x.mapped for x in operands]
            both = run_traced(rule, size, flags, *arrays, **self.options(op))
            results, mapped = pair_of(
                both, f"{self.what}: what batching returned", "the results, and which are batched"
            )
            found = self._listed(results, op, "results of batching")
            which = list(mapped) if isinstance(mapped, list | tuple) else [mapped] * len(found)
            if len(which) != len(found):
                raise ArgumentError(
                    f"{self.what}: batching said of {len(which)} results whether they are batched",
                    where=capture_location(),
                    why=f"there are {len(found)}",
                )
            lanes = [Lanes(asarray(x), bool(flag)) for x, flag in zip(found, which, strict=True)]
            for lane, value in zip(lanes, op.results, strict=True):
                wanted = (size, *value.tensor.shape) if lane.mapped else value.tensor.shape
                self._require_shape(shape_of(lane.array), wanted, "batching returned")
            return lanes

        return batch

    def jvp_by(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Return the tracer's rule of a user's forward derivative."""

        def jvp(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> list[Any]:
            filled = [_zeros_like(p) if t is None else t for p, t in zip(primals, tangents, strict=True)]
            given = outputs[0] if len(outputs) == 1 else tuple(outputs)
            found = self._listed(
                run_traced(rule, tuple(primals), tuple(filled), given, **self.options(op)), op, "tangents of jvp"
            )
            return self._typed(found, outputs, "a tangent of jvp")

        return jvp

    def jvp_of_linear(self, linear: Sequence[int] | None) -> Callable[..., Any]:
        """Return the rule of what is its own derivative."""

        def jvp(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> list[Any]:
            places = range(len(primals)) if linear is None else linear
            others = [k for k, t in enumerate(tangents) if t is not None and k not in places]
            if others:
                raise UnsupportedError(
                    f"the derivative of {self.what} with respect to operand {others[0]}",
                    where=op.location,
                    why=f"it is linear in {', '.join(map(str, places)) or 'none'} alone, and has no jvp",
                    fix="give it a jvp, or call stop_gradient on the operand",
                )
            moved = [
                p if k not in places else _zeros_like(p) if t is None else t
                for k, (p, t) in enumerate(zip(primals, tangents, strict=True))
            ]
            return list(replay_op(op, moved, {}))

        return jvp

    def transpose_by(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Return the tracer's rule of a user's transposition."""

        def transpose(op: Op, operands: list[Any], cotangents: list[Any]) -> list[Any]:
            filled = [
                full_of(0, v.tensor.shape, v.tensor.dtype) if c is None else c
                for c, v in zip(cotangents, op.results, strict=True)
            ]
            given = filled[0] if len(filled) == 1 else tuple(filled)
            found = run_traced(rule, given, *operands, **self.options(op))
            found = list(found) if isinstance(found, tuple | list) else [found]
            if len(found) != len(operands):
                raise ArgumentError(
                    f"{self.what}: transpose returned {counted(len(found), 'cotangent')}",
                    where=capture_location(),
                    fix=f"return one for each of the {counted(len(operands), 'operand')}, None for those given",
                )
            results: list[Any] = []
            for number, (x, c, value) in enumerate(zip(operands, found, op.operands, strict=True)):
                is_zero = x is not None or c is None
                model = None if is_zero else full_of(0, value.tensor.shape, value.tensor.dtype)
                what = f"cotangent {number} of transpose of {self.what}"
                results.append(None if is_zero else of_types([c], [model], what)[0])
            return results

        return transpose

    def _listed(self, value: Any, op: Op, what: str) -> list[Any]:
        found = list(value) if isinstance(value, tuple | list) else [value]
        if len(found) != len(op.results):
            raise ArgumentError(
                f"{self.what}: {len(found)} {what}",
                where=capture_location(),
                why=f"the call has {counted(len(op.results), 'result')}",
            )
        return found

    def _typed(self, found: Sequence[Any], like: Sequence[Any], what: str) -> list[Any]:
        pairs = zip(found, like, strict=True)
        return [None if x is None else of_types([x], [y], f"{what} of {self.what}")[0] for x, y in pairs]

    def _require_shape(self, found: Sequence[int], wanted: Sequence[int], whose: str) -> None:
        if tuple(found) != tuple(wanted):
            raise ShapeError(
                f"{self.what}: {whose} an array of shape {list(found)}, where {list(wanted)} is meant",
                where=capture_location(),
            )


def _zeros_like(x: Any) -> Any:
    return full_of(0, shape_of(x), x.dtype)


def _with_leading_axis(attributes: Any) -> dict[str, Any]:
    """Return a call's attributes with layouts of arrays that have one more axis, the slowest."""
    found = dict(attributes)
    for name in ("operand_layouts", "result_layouts"):
        if found.get(name) is not None:
            orders = [Layout.of_attribute(str(layout)).minor_to_major for layout in found[name]]
            wider = [Layout([*[k + 1 for k in order], 0]) for order in orders]
            found[name] = tuple([ForeignAttribute(layout.attribute) for layout in wider])
    return found
