"""Constraints of the specification that MLIR's verifier leaves out, op by op.

`verifier` asks each op's type rule, which refuses what MLIR refuses: a program that another tool accepts runs here.
These rules are for whoever wants the specification to the letter; they look at what the type rules have accepted. A
rule yields what is broken. What holds of every op alike is in `numhlo.lowering.strict_verifier`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, Op, TensorType, Type, Value
from numhlo.lowering.ir.quantized import QuantizedTensorType
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, element_spelling
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.ops.extents import same_extent
from numhlo.lowering.ops.process_groups import GridShape

Rule = Callable[[Op, GridShape], Iterator[str]]
"""``rule(op, grid)`` yields what is broken; an extent of the grid that the module leaves open is `DYNAMIC`."""

_NAMES = (
    "abs all_gather all_reduce all_to_all atan2 batch_norm_grad batch_norm_inference batch_norm_training cbrt ceil "
    "cholesky clamp collective_broadcast collective_permute compare concatenate cosine divide dynamic_gather "
    "dynamic_iota dynamic_pad dynamic_slice dynamic_update_slice exponential exponential_minus_one floor gather "
    "iota is_finite log log_plus_one logistic map maximum minimum multiply negate optimization_barrier pad power "
    "reduce reduce_precision reduce_scatter reduce_window remainder reverse round_nearest_afz round_nearest_even "
    "rsqrt scatter select select_and_scatter sign sine slice sort sqrt subtract tan tanh triangular_solve"
)
PER_TENSOR: frozenset[str] = frozenset(_NAMES.split())
"""Ops whose quantized operands and results are quantized as a whole, by the specification's tables of inputs."""


def element_of(type: Type) -> Any:
    """Return a tensor's element type: a dtype, or what quantized integers mean."""
    if isinstance(type, QuantizedTensorType):
        return (type.dtype, type.expressed, type.least, type.greatest, type.scales, type.zero_points, type.axis)
    return type.dtype if isinstance(type, TensorType) else type


def is_strictly_promotable(narrow: Type, wide: Type) -> bool:
    """Return whether ``is_promotable`` of the specification holds of two tensors' element types.

    Examples
    --------
    >>> half, single = (TensorType((), np.dtype(name)) for name in ("float16", "float32"))
    >>> is_strictly_promotable(half, single), is_strictly_promotable(single, half)
    (True, False)
    """
    if not isinstance(narrow, TensorType) or not isinstance(wide, TensorType):
        return False
    if isinstance(narrow, QuantizedTensorType) and isinstance(wide, QuantizedTensorType):
        return narrow.expressed == wide.expressed and _fits(narrow.dtype, wide.dtype)
    if isinstance(narrow, QuantizedTensorType) or isinstance(wide, QuantizedTensorType):
        return False
    return narrow.dtype == wide.dtype if BOOL in (narrow.dtype, wide.dtype) else _fits(narrow.dtype, wide.dtype)


def _fits(narrow: np.dtype, wide: np.dtype) -> bool:
    is_one_kind = any(narrow in kind and wide in kind for kind in (INTEGERS, FLOATS, COMPLEX))
    return is_one_kind and BIT_WIDTHS[narrow] <= BIT_WIDTHS[wide]


def _show(type: Type) -> str:
    if isinstance(type, QuantizedTensorType):
        return type.element()
    return element_spelling(type.dtype) if isinstance(type, TensorType) else str(type)


# -- rules of one op


def _same_elements(given: Sequence[Value], wanted: Sequence[Value], text: str) -> Iterator[str]:
    for one, other in zip(given, wanted, strict=True):
        if element_of(one.type) != element_of(other.type):
            yield f"{text}, not {_show(one.type)} and {_show(other.type)}"


def _promoted(inputs: Sequence[Value], bodies: Sequence[Value], rule: str) -> Iterator[str]:
    for value, taken in zip(inputs, bodies, strict=False):
        if not is_strictly_promotable(value.type, taken.type):
            text = "inputs must promote to the body's element types, which must be as wide"
            yield f"{rule} {text}: {_show(value.type)} to {_show(taken.type)}"


def _reduce(op: Op, grid: GridShape) -> Iterator[str]:
    inputs, inits = _halves(op)
    first, second = ("(C2)", "(C6)") if op.definition.name == "reduce" else ("(C3)", "(C13)")
    yield from _same_elements(inputs, inits, f"{first} initial values must have the inputs' element types")
    yield from _promoted(inputs, op.regions[0].returns, second)


def _halves(op: Op) -> tuple[Sequence[Value], Sequence[Value]]:
    count = len(op.operands) // 2
    return op.operands[:count], op.operands[count : 2 * count]


def _scatter(op: Op, grid: GridShape) -> Iterator[str]:
    count = len(op.results)
    inputs, updates = op.operands[:count], op.operands[count + 1 :]
    yield from _same_elements(inputs, updates, "(C6) updates must have the inputs' element types")
    yield from _promoted(inputs, op.regions[0].returns, "(C23)")


def _select_and_scatter(op: Op, grid: GridShape) -> Iterator[str]:
    operand, source, init = op.operands
    yield from _same_elements([operand], [source], "(C1) the source must have the operand's element type")
    yield from _same_elements([operand], [init], "(C3) init_value must have the operand's element type")
    yield from _promoted([operand], op.regions[1].returns, "(C10)")


def _dot_general(op: Op, grid: GridShape) -> Iterator[str]:
    lhs, rhs = op.operands
    if not any(isinstance(v.type, QuantizedTensorType) for v in op.operands):
        yield from _same_elements([lhs], [rhs], "(C13) the operands must have one element type")


# -- rules of groups of processes


def _times(first: int, second: int) -> int:
    return DYNAMIC if DYNAMIC in (first, second) else first * second


def _groups(op: Op, grid: GridShape) -> tuple[int, int]:
    """Return how many processes the ids of a collective number, and how many are in each of its groups."""
    channel, ids = op.attributes.get("channel_handle"), op.attributes.get("replica_groups")
    has_channel = channel is not None and channel.handle > 0
    in_group = ids.shape[1] if isinstance(ids, np.ndarray) and ids.size else DYNAMIC
    if op.attributes.get("use_global_device_ids") is not None:
        return _times(grid.replicas, grid.partitions), in_group
    if not has_channel:
        return grid.replicas, in_group
    if op.definition.name in {"all_to_all", "collective_broadcast", "collective_permute"}:
        return grid.partitions, in_group
    return grid.replicas, _times(in_group, grid.partitions)


def _all_ids(rule: str) -> Rule:
    """Return the rule that the groups of a collective hold all processes."""

    def check(op: Op, grid: GridShape) -> Iterator[str]:
        ids, (count, _) = op.attributes["replica_groups"], _groups(op, grid)
        if isinstance(ids, np.ndarray) and ids.size and not same_extent(int((ids >= 0).sum()), count):
            yield f"{rule} replica_groups must hold all of the module's {count} processes, not {int((ids >= 0).sum())}"

    return check


def _known_ids(rule: str, name: str) -> Rule:
    """Return the rule that ids are in the grid."""

    def check(op: Op, grid: GridShape) -> Iterator[str]:
        ids, (count, _) = op.attributes[name], _groups(op, grid)
        if isinstance(ids, np.ndarray) and count != DYNAMIC and ids.max(initial=0) >= count:
            yield f"{rule} process ids must be less than {count}, the number that the module has"

    return check


def _all_gather(op: Op, grid: GridShape) -> Iterator[str]:
    channel = op.attributes["channel_handle"]
    if op.attributes["use_global_device_ids"] is not None and (channel is None or channel.handle <= 0):
        yield "(C5) use_global_device_ids needs a channel_handle from 1 on"
    axis, (_, in_group) = op.attributes["all_gather_dim"], _groups(op, grid)
    for operand, result in zip(op.operands, op.results, strict=True):
        whole = _times(operand.tensor.shape[axis], in_group)
        if not same_extent(whole, result.tensor.shape[axis]):
            yield f"(C6) the result's extent along dimension {axis} must be {whole}: {in_group} are in a group"


def _reduce_scatter(op: Op, grid: GridShape) -> Iterator[str]:
    axis, (_, in_group) = op.attributes["scatter_dimension"], _groups(op, grid)
    part, whole = op.results[0].tensor.shape[axis], op.operands[0].tensor.shape[axis]
    if not same_extent(_times(part, in_group), whole):
        yield f"(C8) the result's extent along dimension {axis} must be {whole} / {in_group}: so many are in a group"


def _computation(rule: str) -> Rule:
    def check(op: Op, grid: GridShape) -> Iterator[str]:
        returned = op.regions[0].returns
        yield from _promoted(op.operands, list(returned) * len(op.operands), rule)

    return check


RULES: dict[str, Sequence[Rule]] = {
    "all_gather": (_all_ids("(C3)"), _all_gather),
    "all_reduce": (_all_ids("(C2)"), _computation("(C5)")),
    "all_to_all": (_all_ids("(C6)"),),
    "collective_broadcast": (_known_ids("(C2)", "replica_groups"),),
    "collective_permute": (_known_ids("(C4)", "source_target_pairs"),),
    "dot_general": (_dot_general,),
    "reduce": (_reduce,),
    "reduce_scatter": (_all_ids("(C4)"), _computation("(C7)"), _reduce_scatter),
    "reduce_window": (_reduce,),
    "scatter": (_scatter,),
    "select_and_scatter": (_select_and_scatter,),
}
"""Rules by the mnemonics of StableHLO's ops."""


def _per_tensor(op: Op) -> Iterator[str]:
    for word, values in (("I", op.operands), ("O", op.results)):
        for number, value in enumerate(values, 1):
            if isinstance(value.type, QuantizedTensorType) and value.type.axis is not None:
                what = "operand" if word == "I" else "result"
                yield f"({word}{number}) {what} {number - 1} must be quantized as a whole, not along a dimension"


def broken_rules(op: Op, grid: GridShape) -> Iterator[str]:
    """Yield what an op of StableHLO breaks, with the constraint's number.

    Parameters
    ----------
    op : Op
        One that its type rule has accepted.
    grid : GridShape
        How many processes the module is for; `DYNAMIC` where it does not say.

    Examples
    --------
    >>> from numhlo.lowering.text import parse
    >>> text = '''func.func @main(%x: tensor<2xf32>, %y: tensor<2xf16>) {
    ...   %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
    ...     : (tensor<2xf32>, tensor<2xf16>) -> tensor<f32>
    ...   return }'''
    >>> list(broken_rules(parse(text).main.body.ops[0], GridShape(1, 1)))
    ['(C13) the operands must have one element type, not f32 and f16']
    """
    name = op.definition.name
    own = chain.from_iterable(rule(op, grid) for rule in RULES.get(name, ()))
    return chain(_per_tensor(op) if name in PER_TENSOR else (), own)
