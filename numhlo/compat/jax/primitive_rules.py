"""Rule tables of `Primitive`s, and how they are applied when a graph is differentiated, transposed or batched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from numhlo.compat.jax.avals import ShapedArray, aval_of_type, get_aval
from numhlo.compat.jax.linear_values import UndefinedPrimal, Zero, none_for_zero
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.records import record
from numhlo.tracer.building.derivatives import Dual, is_differentiable, stage_leaves
from numhlo.tracer.core.arrangement import move_axis
from numhlo.tracer.core.bind import bind_again
from numhlo.tracer.core.custom_rules import CustomRule, LinearRule
from numhlo.tracer.core.lanes import Lanes
from numhlo.tracer.core.operands import asarray, convert, full_of
from numhlo.tracer.core.replay import replay_function
from numhlo.tracer.core.semantics import immutable_arrays
from numhlo.tracer.differentiation.table import Walker
from numhlo.tracer.python.plain_numpy import run_traced

Table = dict[Any, Callable[..., Any]]

primitive_jvps: Table = {}
"""By primitive: ``rule(primals, tangents, **params) -> (results, tangents of results)``."""

primitive_transposes: Table = {}
"""By primitive: ``rule(cotangents, *args, **params) -> cotangents of args``."""

primitive_batchers: Table = {}
"""By primitive: ``rule(args, axes, **params) -> (results, axes of results)``."""

axis_primitive_batchers: Table = {}
"""By primitive: ``rule(axis_size, axis_name, main_type, args, axes, **params) -> (results, axes of results)``."""

fancy_primitive_batchers: Table = {}
"""By primitive: ``rule(axis_data, args, axes, **params) -> (results, axes of results)``."""

LOWERINGS: Table = {}
"""By primitive: ``rule(context, *values, **params) -> values``; values are traced arrays."""


class AxisData(NamedTuple):
    """The axis that is being batched.

    Attributes
    ----------
    name : hashable
    size : int
    spmd_name, explicit_mesh_axis : None
    """

    name: Any
    size: int
    spmd_name: Any = None
    explicit_mesh_axis: Any = None


@record
class ModuleContext:
    """What a lowering rule may ask of the program around it."""

    platforms: tuple[str, ...] = ("cpu",)
    kept: list[Any] = field(default_factory=list)

    def add_keepalive(self, kept: Any) -> None:
        """Hold an object."""
        self.kept.append(kept)


@record
class LoweringContext:
    """What a lowering rule is told.

    Attributes
    ----------
    primitive : Primitive
    avals_in, avals_out : list of ShapedArray
    """

    primitive: Any
    avals_in: list[ShapedArray]
    avals_out: list[ShapedArray]
    module_context: ModuleContext = field(default_factory=ModuleContext)


class Binding(NamedTuple):
    """A primitive with its parameters.

    Attributes
    ----------
    primitive : Primitive
    params : dict
    """

    primitive: Any
    params: dict[str, Any]

    def listed(self, results: Any) -> list[Any]:
        """Return what a rule gave for the results, one or several, as a list."""
        return list(results) if self.primitive.multiple_results else [results]

    def bind(self, operands: Sequence[Any]) -> list[Any]:
        """Apply the primitive again."""
        return self.listed(self.primitive.bind(*operands, **self.params))


class PrimitiveRule(CustomRule[Walker], LinearRule):
    """Differentiates, transposes and batches a primitive by the tables.

    Parameters
    ----------
    binding : Binding
    """

    def __init__(self, binding: Binding) -> None:
        self.binding = binding

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the rule; where tangents are collected, linearize it in them, since it is linear in these already."""
        primitive, params = self.binding
        if walker.is_linear:  # what a rule binds on tangents is linear in them, and has no derivative of its own
            with walker.in_primal():
                outputs = self.again(op, primals)
            moved = [p if t is None else t for p, t in zip(primals, tangents, strict=True)]
            return outputs, self.again(op, moved)
        rule = primitive_jvps.get(primitive)
        if rule is None:
            raise NotImplementedError(f"Differentiation rule for '{primitive}' not implemented")
        moving = [k for k, t in enumerate(tangents) if t is not None]
        flags: list[bool] = []

        def run(*arrays: Any) -> list[Any]:
            values, rest = list(arrays[: len(primals)]), iter(arrays[len(primals) :])
            slopes = [next(rest) if k in moving else _zero(op, k) for k in range(len(primals))]
            found, changes = rule(values, slopes, **params)
            results = [asarray(x) for x in self.binding.listed(found)]
            changes = [none_for_zero(t) for t in self.binding.listed(changes)]
            flags[:] = [t is not None for t in changes]
            kept = zip(changes, results, strict=True)
            return [*results, *[convert(asarray(t), x.dtype) for t, x in kept if t is not None]]

        with walker.in_primal(), immutable_arrays():
            zeros = [full_of(0, primals[k].shape, primals[k].dtype) for k in moving]
            filled = zeros if walker.linearizes else [tangents[k] for k in moving]
            run_it = lambda *arrays: run_traced(run, *arrays)  # noqa: E731 - NumPy's names inside are traced
            staged = stage_leaves(run_it, [*primals, *filled], f"jvp_{primitive}")
        number = len(op.results)
        if walker.linearizes:
            duals = [Dual(x, None) for x in primals]
            duals += [Dual(z, tangents[k]) for z, k in zip(zeros, moving, strict=True)]
            duals += [Dual(c, None) for c in staged.captures]
            results = walker.linearly().function(staged.function, duals)
            outputs, slopes = [d.primal for d in results[:number]], [d.tangent for d in results[number:]]
        else:
            found = replay_function(staged.function, [*primals, *filled, *staged.captures])
            outputs = found[:number]
            slopes = [t if is_differentiable(t.dtype) else None for t in found[number:]]
        rest = iter(slopes)
        return outputs, [next(rest) if flag else None for flag in flags]

    def again(self, op: Op, operands: Sequence[Any]) -> list[Any]:
        """Bind the same composite on other operands; what it computes, and its rule, stay."""
        return bind_again(op, operands)

    def transpose(self, op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        """Return the cotangents of the operands that it is linear in."""
        primitive, params = self.binding
        rule = primitive_transposes.get(primitive)
        if rule is None:
            what = f"Transpose rule (for reverse-mode differentiation) for '{primitive}'"
            raise NotImplementedError(f"{what} not implemented")
        given = [Zero(aval_of_type(v.tensor)) if c is None else c for c, v in zip(cotangents, op.results, strict=True)]
        args = [
            UndefinedPrimal(aval_of_type(v.tensor)) if x is None else x
            for x, v in zip(operands, op.operands, strict=True)
        ]
        with immutable_arrays():
            found = run_traced(rule, given if primitive.multiple_results else given[0], *args, **params)
        if found is None or type(found) is Zero or found is Zero:
            return [None] * len(operands)
        found = [none_for_zero(c) for c in found]
        return [c if x is None else None for c, x in zip(found, operands, strict=True)]

    def batch(self, op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes]:
        """Return the results on lanes."""
        primitive, params = self.binding
        args, axes = [x.array for x in operands], [0 if x.mapped else None for x in operands]
        with immutable_arrays():
            if primitive in fancy_primitive_batchers:
                found = run_traced(fancy_primitive_batchers[primitive], AxisData(None, size), args, axes, **params)
            elif primitive in axis_primitive_batchers:
                found = run_traced(axis_primitive_batchers[primitive], size, None, None, args, axes, **params)
            elif primitive in primitive_batchers:
                found = run_traced(primitive_batchers[primitive], args, axes, **params)
            else:
                raise NotImplementedError(f"Batching rule for '{primitive}' not implemented")
        results, places = found
        if primitive.multiple_results and not isinstance(places, list | tuple):
            places = [places] * len(results)
        pairs = zip(self.binding.listed(results), self.binding.listed(places), strict=True)
        return [_lanes(asarray(x), axis) for x, axis in pairs]

    def batched(self, size: int) -> CustomRule | None:
        """Return None: `batch` always answers."""
        return None


def _zero(op: Op, number: int) -> Zero:
    return Zero(aval_of_type(op.operands[number].tensor).to_tangent_aval())


def _lanes(array: Any, axis: int | None) -> Lanes:
    if axis is None:
        return Lanes(array, False)
    return Lanes(array if axis == 0 else move_axis(array, axis % len(get_aval(array).shape), 0), True)
