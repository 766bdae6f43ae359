"""Random numbers: rng and rng-bit-generator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ops import creation, random_bits

DISTRIBUTIONS = {"rng_uniform": "UNIFORM", "rng_normal": "NORMAL"}
ALGORITHMS = {"rng_default": "DEFAULT", "rng_three_fry": "THREE_FRY", "rng_philox": "PHILOX"}


def _known(t: Translator, i: Instruction, name: str, word: str, table: dict[str, str]) -> str:
    if word not in table:
        raise t.complaint(i, f"{name} must be one of {', '.join(table)}, not {word}")
    return table[word]


@reads("rng", needs="distribution")
def read_rng(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Draw numbers."""
    a, b = t.arrays(i, operands, 2)
    kind = _known(t, i, "distribution", i.attributes["distribution"], DISTRIBUTIONS)
    type = t.array_type(i)
    if not type.is_static:
        raise t.complaint(i, "rng needs known extents")
    shape = t.one(i, creation.CONSTANT, value=np.array(type.shape, np.int64))
    return t.one(i, random_bits.RNG, a, b, shape, result=type, rng_distribution=kind)


@reads("rng-bit-generator", may="algorithm")
def read_rng_bit_generator(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Draw bits from a state; HLO returns the next state and the bits."""
    (state,) = t.arrays(i, operands, 1)
    kind = _known(t, i, "algorithm", attribute(i, "algorithm", "rng_default"), ALGORITHMS)
    types = list(t.shape(i).leaves())
    if len(types) != 2 or not all(isinstance(type, TensorType) for type in types):
        raise t.complaint(i, "rng-bit-generator returns the next state and the bits")
    return tuple(t.make(i, random_bits.RNG_BIT_GENERATOR, state, results=types, rng_algorithm=kind))


# -- writing


@WRITE.register(random_bits.RNG)
def write_rng(w: Writer, op: Op) -> None:
    """Write the distribution; the shape is the result's."""
    word = next(word for word, kind in DISTRIBUTIONS.items() if kind == op.attributes["rng_distribution"])
    w.write(op, "rng", op.operands[:2], [f"distribution={word}"])


@WRITE.register(random_bits.RNG_BIT_GENERATOR)
def write_rng_bit_generator(w: Writer, op: Op) -> None:
    """Write the algorithm."""
    word = next(word for word, kind in ALGORITHMS.items() if kind == op.attributes["rng_algorithm"])
    w.write(op, "rng-bit-generator", op.operands, [f"algorithm={word}"])
