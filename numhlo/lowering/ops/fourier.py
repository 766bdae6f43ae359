"""The ``fft`` op: discrete Fourier transforms of the last one, two or three dimensions, by NumPy's pocketfft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, TensorType, Type
from numhlo.lowering.ops.extents import same_shape
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.type_rules import refine

REAL = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
COMPLEX = frozenset({np.dtype(np.complex64), np.dtype(np.complex128)})
COMPLEX_OF: dict[np.dtype, np.dtype] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}
REAL_OF: dict[np.dtype, np.dtype] = {c: r for r, c in COMPLEX_OF.items()}
FFT_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")


class Fourier(Primitive):
    """A discrete Fourier transform."""

    __slots__ = ()


def half_length(extent: int) -> int:
    """Return the number of complex results of ``extent`` real elements."""
    return extent if extent in (0, DYNAMIC) else extent // 2 + 1


def infer_fft(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C5)."""
    require = signature.require
    kind, length = signature.attributes["fft_type"], tuple(signature.attributes["fft_length"])
    operand = signature.tensor(0)
    require(kind in FFT_TYPES, f"(I2) fft_type must be one of {', '.join(FFT_TYPES)}, not {kind}")
    count = len(length)
    require(count <= operand.ndim, f"(C1) fft_length must have at most {operand.ndim} elements, the rank of operand")
    allowed, kinds = (REAL, "real numbers") if kind == "RFFT" else (COMPLEX, "complex numbers")
    require(operand.dtype in allowed, f"(C2) the operand of {kind} must be of {kinds}, not {operand.dtype.name}")
    require(1 <= count <= 3, f"(C3) fft_length must have 1 to 3 elements, not {count}")
    is_length = kind in ("FFT", "IFFT") or min(length) >= 0
    require(is_length, f"(I3) fft_length must not be negative: {list(length)}")
    batch = operand.shape[: operand.ndim - count]
    if kind == "RFFT":
        require(same_shape(operand.shape[-count:], length), f"(C4) the operand's last dimensions must be {length}")
        result = TensorType((*operand.shape[:-1], half_length(operand.shape[-1])), COMPLEX_OF[operand.dtype])
    elif kind == "IRFFT":
        expected = (*length[:-1], half_length(length[-1]))
        require(
            same_shape(operand.shape[-count:], expected),
            f"(C5) the operand's last dimensions must be {expected}, not {operand.shape[-count:]}",
        )
        result = TensorType((*batch, *length), REAL_OF[operand.dtype])
    else:
        result = operand
    declared = signature.results and signature.result_tensor()
    if declared and kind == "IRFFT" and declared.ndim == result.ndim:
        fits = same_shape(declared.shape[-count:], length)
        require(fits, f"(C4) the result's last dimensions must be {length}, not {declared.shape[-count:]}")
    fits = not declared or declared.dtype == result.dtype
    require(fits, f"(C2) the result of {kind} must be of {result.dtype.name}")
    return refine(signature, result, "(C5) the result must have the type that the transform gives")


def evaluate_fft(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Transform the last dimensions; NumPy computes in the operand's own precision.

    Of FFT and IFFT the number of lengths counts alone: the specification does not say that they are the extents.
    """
    (x,) = arrays
    kind, length = attributes["fft_type"], tuple(attributes["fft_length"])
    axes = tuple(range(x.ndim - len(length), x.ndim))
    if x.size == 0 or (kind == "IRFFT" and 0 in length):
        return [_empty(x, kind, length)]
    if kind in ("FFT", "IFFT"):
        return [getattr(np.fft, f"{kind.lower()}n")(x, axes=axes)]
    return [getattr(np.fft, f"{kind.lower()}n")(x, length, axes=axes)]


def _empty(x: np.ndarray, kind: str, length: tuple[int, ...]) -> np.ndarray:
    """Return the transform of nothing: zeros, where there are any elements at all."""
    if kind == "RFFT":
        return np.zeros((*x.shape[:-1], half_length(x.shape[-1])), COMPLEX_OF[x.dtype])
    if kind == "IRFFT":
        return np.zeros((*x.shape[: x.ndim - len(length)], *length), REAL_OF[x.dtype])
    return x


FFT = Fourier(
    "fft",
    infer_fft,
    evaluate_fft,
    ("operand",),
    (Attribute("fft_type", "enum:fft_type"), Attribute("fft_length", "array<i64>")),
)
