"""Factorizations, Fourier transforms, normalization of batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.hlo.layout import braced
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.reduction import one_or_tuple
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import fourier, linear_algebra, normalization

TRANSPOSES = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
NORMALIZATIONS = {
    "batch-norm-inference": normalization.BATCH_NORM_INFERENCE,
    "batch-norm-training": normalization.BATCH_NORM_TRAINING,
    "batch-norm-grad": normalization.BATCH_NORM_GRAD,
}


@reads("cholesky", may="lower")
def read_cholesky(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Factor matrices."""
    return t.one(i, linear_algebra.CHOLESKY, *t.arrays(i, operands, 1), lower=attribute(i, "lower", False))


@reads("triangular-solve", may="left_side lower unit_diagonal transpose_a")
def read_triangular_solve(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Solve triangular systems."""
    flags = {name: attribute(i, name, False) for name in ("left_side", "lower", "unit_diagonal")}
    turned = attribute(i, "transpose_a", "NO_TRANSPOSE")
    if turned not in TRANSPOSES:
        raise t.complaint(i, f"transpose_a must be one of {', '.join(TRANSPOSES)}, not {turned}")
    return t.one(i, linear_algebra.TRIANGULAR_SOLVE, *t.arrays(i, operands, 2), **flags, transpose_a=turned)


@reads("fft", needs="fft_type fft_length")
def read_fft(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Transform the last dimensions."""
    kind, length = i.attributes["fft_type"], i.attributes["fft_length"]
    if kind not in FFT_TYPES:
        raise t.complaint(i, f"fft_type must be one of {', '.join(FFT_TYPES)}, not {kind}")
    return t.one(i, fourier.FFT, *t.arrays(i, operands, 1), fft_type=kind, fft_length=length)


@reads(*NORMALIZATIONS, needs="epsilon feature_index")
def read_normalization(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Normalize features."""
    with np.errstate(over="ignore"):
        epsilon = float(np.float32(i.attributes["epsilon"]))  # of 32 bits, as in StableHLO
    if not np.isfinite(epsilon):
        raise t.complaint(i, "epsilon must be a number of 32 bits")
    options = {"epsilon": epsilon, "feature_index": i.attributes["feature_index"]}
    return one_or_tuple(t.make(i, NORMALIZATIONS[i.opcode], *t.arrays(i, operands), **options))


# -- writing


@WRITE.register(linear_algebra.CHOLESKY)
def write_cholesky(w: Writer, op: Op) -> None:
    """Write which triangle is meant."""
    w.write(op, "cholesky", op.operands, [f"lower={_word(op.attributes['lower'])}"])


@WRITE.register(linear_algebra.TRIANGULAR_SOLVE)
def write_triangular_solve(w: Writer, op: Op) -> None:
    """Write which system is meant."""
    flags = [f"{name}={_word(op.attributes[name])}" for name in ("left_side", "lower", "unit_diagonal")]
    w.write(op, "triangular-solve", op.operands, [*flags, f"transpose_a={op.attributes['transpose_a']}"])


@WRITE.register(fourier.FFT)
def write_fft(w: Writer, op: Op) -> None:
    """Write kind and lengths."""
    length = f"fft_length={braced(op.attributes['fft_length'])}"
    w.write(op, "fft", op.operands, [f"fft_type={op.attributes['fft_type']}", length])


@WRITE.register(*NORMALIZATIONS.values())
def write_normalization(w: Writer, op: Op) -> None:
    """Write the dimension of features, and what is added to variances."""
    options = [f"epsilon={float(op.attributes['epsilon'])!r}", f"feature_index={op.attributes['feature_index']}"]
    w.write(op, op.definition.name.replace("_", "-"), op.operands, options)


def _word(flag: bool) -> str:
    return "true" if flag else "false"
