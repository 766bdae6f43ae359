"""How ops pass the cuts of their operands on to their results, and what they do with parts. One rule for each family.

Importing this file fills the tables of `partitioning`. A rule may choose any cut for its results: operands are brought
to what it needs, by cutting them further where that will do, or by gathering them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.sharding.partitioning import FAMILIES, RULES, Cut, Part, Partitioner, on_whole_arrays, whole
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import comparison, contraction, control_flow, conversion, creation, layout, reduction
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.region_function import single_op


def merged(p: Partitioner, shape: Sequence[int], cuts: Sequence[Cut], fixed: Sequence[int] = ()) -> Cut:
    """Return a cut that arrays of one shape can be brought to: each dimension as the first of them that is cut there.

    Parameters
    ----------
    p : Partitioner
    shape : sequence of int
    cuts : sequence of tuple
        In the order of preference.
    fixed : sequence of int, optional
        Dimensions that are not to be cut.
    """
    found: list[tuple[Any, ...]] = [()] * len(shape)
    used: set[Any] = set()
    for cut in cuts:
        for k, names in enumerate(cut):
            if names and not found[k] and k not in fixed and not used.intersection(names) and p.cuts(shape[k], names):
                found[k] = names
                used.update(names)
    return tuple(found)


def elementwise(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Elements at one index meet: all operands are cut alike; scalars beside arrays are whole."""
    shape = op.results[0].tensor.shape
    firm_first = sorted([x for x in parts if x.shape == shape], key=lambda x: x.again is not None)
    is_made_again = all(x.again is not None for x in firm_first)

    def again(cut: Cut) -> Part:
        (made,) = p.emit(op, [p.to(x, cut) if x.shape == shape else x for x in parts], [cut])
        return made._replace(again=again if shape and is_made_again else None)

    return [again(merged(p, shape, [x.cut for x in firm_first]))]


FAMILIES[ops.Elementwise] = elementwise
for _definition in (comparison.COMPARE, comparison.SELECT, comparison.CLAMP, conversion.CONVERT):
    RULES[_definition] = elementwise
RULES[conversion.REDUCE_PRECISION] = elementwise


def broadcast(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Dimensions that are repeated may be cut in any way: what is repeated less often costs less."""
    (x,), type, dimensions = parts, op.results[0].tensor, op.attributes["broadcast_dimensions"]
    kept = {d: k for k, d in enumerate(dimensions) if x.shape[k] == type.shape[d]}

    def again(cut: Cut) -> Part:
        needed = [()] * len(x.shape)
        for d, k in kept.items():
            needed[k] = cut[d]
        (made,) = p.emit(op, [p.to(x, tuple(needed))], [cut])
        return made._replace(again=again)

    return [again(tuple([x.cut[kept[d]] if d in kept else () for d in range(type.ndim)]))]


RULES[layout.BROADCAST_IN_DIM] = broadcast


def constant(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Constants are whole, or made in parts where all elements are equal."""
    array = op.attributes["value"]
    flat = array.reshape(-1)

    def again(cut: Cut) -> Part:
        part = np.full(p.local_shape(array.shape, cut), flat[0], array.dtype)
        return Part(p.b.constant(part), cut, array.shape, again)

    if array.size > 1 and bool((flat == flat[0]).all()):
        return [again(whole(array.ndim))]
    return [Part(p.b.constant(array), whole(array.ndim), array.shape)]


def iota(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Numbers begin with the number of a part's first element."""
    type, along = op.results[0].tensor, op.attributes["iota_dimension"]

    def again(cut: Cut) -> Part:
        (made,) = p.emit(op, [], [cut])
        if cut[along]:
            local = made.value.tensor
            start = p.offset(cut[along], local.shape[along])
            start = p.b.op(conversion.CONVERT, start, result=type.with_shape(()))
            wide = p.b.op(layout.BROADCAST_IN_DIM, start, result=local, broadcast_dimensions=())
            made = made._replace(value=p.b.op(ops.ADD, made.value, wide))
        return made._replace(again=again)

    return [again(whole(type.ndim)) if type.dtype.kind in "iu" else on_whole_arrays(p, op, parts)[0]]


RULES[creation.CONSTANT] = constant
RULES[creation.IOTA] = iota


def transpose(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Cuts move with their dimensions."""
    (x,) = parts
    return p.emit(op, parts, [tuple([x.cut[k] for k in op.attributes["permutation"]])])


def reshape(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Dimensions that become others together keep the cut of the slowest one, if it is the only one that is cut."""
    (x,), shape = parts, op.results[0].tensor.shape
    if 0 in shape:
        return on_whole_arrays(p, op, parts)
    cut: list[tuple[Any, ...]] = [()] * len(shape)
    needed: list[tuple[Any, ...]] = [()] * len(x.shape)
    for old, new in _groups(x.shape, shape):
        before = [k for k in old if x.shape[k] > 1]
        behind = [k for k in new if shape[k] > 1]
        if before and behind and p.cuts(shape[behind[0]], x.cut[before[0]]):
            needed[before[0]] = cut[behind[0]] = x.cut[before[0]]
    return p.emit(op, [p.to(x, tuple(needed))], [tuple(cut)])


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return which dimensions become which others, as few at a time as possible.

    Examples
    --------
    >>> _groups((4, 6, 5), (24, 1, 5))
    [([0, 1], [0]), ([2], [1, 2])]
    """
    found, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        left: list[int] = []
        right: list[int] = []
        m = n = 1
        while not (left and right and m == n):
            if (m <= n and i < len(old)) or j == len(new):
                if i == len(old):
                    break
                left.append(i)
                m *= old[i]
                i += 1
            else:
                right.append(j)
                n *= new[j]
                j += 1
            if m == n and (left or right) and (i == len(old) or j == len(new)):
                left += range(i, len(old))
                right += range(j, len(new))
                i, j = len(old), len(new)
                break
        found.append((left, right))
    return found


RULES[layout.TRANSPOSE] = transpose
RULES[layout.RESHAPE] = reshape


def _untouched(p: Partitioner, op: Op, parts: list[Part], touched: set[int], **changed: Any) -> Sequence[Part]:
    """Run an op that works along some dimensions alone on parts that are not cut there."""
    arrays = [x for x in parts if len(x.shape) == op.results[0].tensor.ndim]
    shape = [max(x.shape[k] for x in arrays) for k in range(len(arrays[0].shape))]
    cut = merged(p, shape, [x.cut for x in arrays], sorted(touched))
    given = [p.to(x, cut) if len(x.shape) == len(cut) else x for x in parts]
    return p.emit(op, given, [cut] * len(op.results), **changed)


def slices(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Dimensions that are taken whole stay cut."""
    (x,), attributes = parts, op.attributes
    result = op.results[0].tensor.shape
    touched = {k for k, n in enumerate(x.shape) if result[k] != n}
    cut = merged(p, x.shape, [x.cut], sorted(touched))
    limits = tuple([
        n if k in touched else m
        for k, (n, m) in enumerate(zip(attributes["limit_indices"], p.local_shape(result, cut), strict=True))
    ])  # fmt: skip
    return _untouched(p, op, parts, touched, limit_indices=limits)


def pad(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Dimensions that are not padded stay cut."""
    rows = [op.attributes[name] for name in ("edge_padding_low", "edge_padding_high", "interior_padding")]
    touched = {k for k, amounts in enumerate(zip(*rows, strict=True)) if any(amounts)}
    x, value = parts
    cut = merged(p, x.shape, [x.cut], sorted(touched))
    return p.emit(op, [p.to(x, cut), value], [cut])


def concatenate(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Dimensions along which nothing is joined stay cut."""
    return _untouched(p, op, parts, {op.attributes["dimension"]})


def reverse(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Dimensions that are not reversed stay cut."""
    return _untouched(p, op, parts, set(op.attributes["dimensions"]))


RULES[layout.SLICE] = slices
RULES[layout.PAD] = pad
RULES[layout.CONCATENATE] = concatenate
RULES[layout.REVERSE] = reverse

IDENTITIES = {ops.ADD: 0, ops.MULTIPLY: 1, ops.MAXIMUM: None, ops.MINIMUM: None, ops.AND: None, ops.OR: None}
"""Reductions that are completed between devices, and what each must begin with: None where that changes nothing."""


def reduce(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Reduce parts, and then between devices where reduced dimensions are cut; else those are gathered first."""
    count, reduced = len(op.results), op.attributes["dimensions"]
    arrays, inits = parts[:count], [p.to(x, whole(0)) for x in parts[count:]]
    combiner = single_op(op.regions[0])
    if any(p.part(v).cut != () for v in free_values(op)):
        return on_whole_arrays(p, op, parts)
    is_joined = count == 1 and combiner is not None and _begins_with_identity(combiner, op)
    cut = merged(p, arrays[0].shape, [x.cut for x in arrays], () if is_joined else reduced)
    kept = tuple([names for k, names in enumerate(cut) if k not in reduced])
    results = p.emit(op, [*[p.to(x, cut) for x in arrays], *inits], [kept] * count)
    across = [name for k in reduced for name in cut[k]]
    if not across or combiner is None:
        return results
    return [results[0]._replace(value=p.all_reduce(results[0].value, combiner.definition, across))]


def _begins_with_identity(combiner: Op, op: Op) -> bool:
    if combiner.definition not in IDENTITIES:
        return False
    identity = IDENTITIES[combiner.definition]
    if identity is None:
        return True
    owner = op.operands[1].owner
    return isinstance(owner, Op) and owner.definition is creation.CONSTANT and owner.attributes["value"] == identity


RULES[reduction.REDUCE] = reduce


def product(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Batch and free dimensions stay cut; products over a dimension that is cut are added up between devices."""
    numbers = op.attributes["dot_dimension_numbers"]
    lhs, rhs = (list(x.cut) for x in parts)
    used: set[Any] = set()
    across: list[Any] = []
    pairs = [
        *zip(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions, strict=True),
        *zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, strict=True),
    ]
    for i, j in pairs:
        names = next((n for n in (lhs[i], rhs[j]) if n and not used.intersection(n)), ())
        lhs[i] = rhs[j] = names
        used.update(names)
        if i in numbers.lhs_contracting_dimensions:
            across += names
    frees = []
    paired = [{i for i, _ in pairs}, {j for _, j in pairs}]
    for cut, others in zip((lhs, rhs), paired, strict=True):
        for k, names in enumerate(cut):
            if k not in others:
                cut[k] = () if used.intersection(names) else names
                used.update(cut[k])
                frees.append(cut[k])
    result = (*[lhs[i] for i in numbers.lhs_batching_dimensions], *frees)
    (found,) = p.emit(op, [p.to(parts[0], tuple(lhs)), p.to(parts[1], tuple(rhs))], [result])
    return [found._replace(value=p.all_reduce(found.value, ops.ADD, across)) if across else found]


RULES[contraction.DOT_GENERAL] = product


def call(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Put a function's ops in the place of its call."""
    body = op.attributes["callee" if op.definition is control_flow.CALL else "decomposition"].body
    p.define(body.arguments, parts)
    return p.fill(body)


def loop(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """What a loop carries is cut as it is in the beginning."""
    condition, body = op.regions
    cuts = [x.cut for x in parts]
    regions = [p.region(condition, cuts, [whole(0)]), p.region(body, cuts, cuts)]
    types = [p.local(v.tensor, cut) for v, cut in zip(op.results, cuts, strict=True)]
    made = p.b.append(Op(op.definition, [x.value for x in parts], op.attributes, regions, types, op.location))
    return [Part(x, part.cut, part.shape) for x, part in zip(made, parts, strict=True)]


def branch(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """What branches return is whole."""
    cuts = [whole(v.tensor.ndim) for v in op.results]
    regions = [p.region(region, [], cuts) for region in op.regions]
    types = [v.type for v in op.results]
    made = p.b.append(Op(op.definition, [parts[0].value], op.attributes, regions, types, op.location))
    return [Part(x, cut, v.tensor.shape) for x, cut, v in zip(made, cuts, op.results, strict=True)]


RULES[control_flow.CALL] = RULES[control_flow.COMPOSITE] = call
RULES[control_flow.WHILE] = loop
RULES[control_flow.IF] = RULES[control_flow.CASE] = branch
