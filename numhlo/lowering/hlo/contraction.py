"""The instruction ``dot``: sums of products over contracting dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.hlo.layout import braced
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import contraction
from numhlo.lowering.ops.dimension_numbers import DotAlgorithm, DotDimensionNumbers

NAMES = {
    "lhs_batch_dims": "lhs_batching_dimensions",
    "rhs_batch_dims": "rhs_batching_dimensions",
    "lhs_contracting_dims": "lhs_contracting_dimensions",
    "rhs_contracting_dims": "rhs_contracting_dimensions",
}
"""HLO's names of the dimension numbers, and the record's."""

PRECISIONS = {"default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST"}

ALGORITHMS: dict[str, DotAlgorithm] = {
    "dot_f16_f16_f16": DotAlgorithm("f16", "f16", "f16"),
    "dot_f16_f16_f32": DotAlgorithm("f16", "f16", "f32"),
    "dot_bf16_bf16_bf16": DotAlgorithm("bf16", "bf16", "bf16"),
    "dot_bf16_bf16_f32": DotAlgorithm("bf16", "bf16", "f32"),
    **{f"dot_bf16_bf16_f32_x{n}": DotAlgorithm("bf16", "bf16", "f32", num_primitive_operations=n) for n in (3, 6, 9)},
    "dot_tf32_tf32_f32": DotAlgorithm("tf32", "tf32", "f32"),
    "dot_tf32_tf32_f32_x3": DotAlgorithm("tf32", "tf32", "f32", num_primitive_operations=3),
    "dot_f32_f32_f32": DotAlgorithm("f32", "f32", "f32"),
    "dot_f64_f64_f64": DotAlgorithm("f64", "f64", "f64"),
}
"""HLO's names of algorithms; those of any 8-bit floats are `EIGHT_BITS`."""

EIGHT_BITS = {"dot_any_f8_any_f8_f32": False, "dot_any_f8_any_f8_f32_fast_accum": True}
"""Algorithms of operands of any 8-bit floats, and whether their sums may be imprecise."""

F8 = {
    f"f8e{rest}": f"f8E{rest.upper()}"
    for rest in ("5m2", "4m3", "4m3fn", "4m3b11fnuz", "4m3fnuz", "5m2fnuz", "3m4", "8m0fnu")
}


def precision_of(t: Translator, i: Instruction) -> tuple[str, ...]:
    """Return the precision of both operands, empty where the text leaves it out."""
    words = attribute(i, "operand_precision", ())
    if words and (len(words) != 2 or not set(words) <= PRECISIONS.keys()):
        raise t.complaint(i, "operand_precision must be two of default, high, highest")
    return tuple([PRECISIONS[word] for word in words])


@reads(
    "dot",
    may="lhs_batch_dims rhs_batch_dims lhs_contracting_dims rhs_contracting_dims operand_precision algorithm",
)
def read_dot(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Multiply and sum."""
    lhs, rhs = t.arrays(i, operands, 2)
    numbers = DotDimensionNumbers(**{ours: attribute(i, theirs, ()) for theirs, ours in NAMES.items()})
    return t.one(
        i,
        contraction.DOT_GENERAL,
        lhs,
        rhs,
        result=None if i.shape is None else t.array_type(i),
        dot_dimension_numbers=numbers,
        precision_config=precision_of(t, i),
        algorithm=_algorithm(t, i, lhs.tensor.dtype.name, rhs.tensor.dtype.name),
    )


def _algorithm(t: Translator, i: Instruction, lhs: str, rhs: str) -> DotAlgorithm | None:
    name = attribute(i, "algorithm", "dot_unset")
    if name == "dot_unset":
        return None
    if name in EIGHT_BITS:
        types = [F8.get(dtype.replace("float8_", "f8").replace("f8e", "f8e"), "f8E5M2") for dtype in (lhs, rhs)]
        return DotAlgorithm(types[0], types[1], "f32", allow_imprecise_accumulation=EIGHT_BITS[name])
    if name not in ALGORITHMS:
        raise t.complaint(i, f"{name} is no algorithm of dot: they are {', '.join([*ALGORITHMS, *EIGHT_BITS])}")
    return ALGORITHMS[name]


# -- writing


def precision_text(op: Op) -> list[str]:
    """Return the attribute that says how precise operands are, where they are not so by default."""
    words = [word.lower() for word in op.attributes.get("precision_config") or ()]
    return [f"operand_precision={{{','.join(words)}}}"] if set(words) - {"default"} else []


@WRITE.register(contraction.DOT_GENERAL)
def write_dot_general(w: Writer, op: Op) -> None:
    """Write the dimensions, the precision and the algorithm."""
    numbers = op.attributes["dot_dimension_numbers"]
    given = [(theirs, getattr(numbers, ours)) for theirs, ours in NAMES.items()]
    dims = [f"{name}={braced(axes)}" for name, axes in given if axes]
    w.write(op, "dot", op.operands, [*dims, *precision_text(op), *_algorithm_text(op)])


def _algorithm_text(op: Op) -> list[str]:
    algorithm = op.attributes.get("algorithm")
    if algorithm is None:
        return []
    if algorithm.lhs_precision_type.startswith("f8"):
        names = [
            name for name, is_imprecise in EIGHT_BITS.items() if is_imprecise == algorithm.allow_imprecise_accumulation
        ]
    else:
        names = [name for name, known in ALGORITHMS.items() if known == algorithm]
    if not names:
        raise UnsupportedError(f"HLO has no name for this algorithm: {algorithm}", where=op.location)
    return [f"algorithm={names[0]}"]


@WRITE.register(contraction.DOT)
def write_dot(w: Writer, op: Op) -> None:
    """Write a product of vectors or matrices."""
    last = op.operands[0].tensor.ndim - 1
    dims = [f"lhs_contracting_dims={{{last}}}", "rhs_contracting_dims={0}"]
    w.write(op, "dot", op.operands, [*dims, *precision_text(op)])
