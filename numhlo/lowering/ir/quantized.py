"""The type of quantized tensors: integers in storage that stand for floats, by scale and zero point.

Source: StableHLO specification, "Quantized types". A value of the type is held as its integers, so the type is a
tensor's of the storage type, with what the integers mean beside it.
"""

from __future__ import annotations

import math
from dataclasses import field

import ml_dtypes
import numpy as np

from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.types import FLOATS, INTEGERS, TensorType, element_spelling

FLOAT32 = np.dtype(np.float32)


@record(frozen=True, slots=True)
class QuantizedTensorType(TensorType):
    """A tensor whose element ``q`` stands for ``(q - zero_point) * scale``; ``dtype`` is the storage type.

    Parameters
    ----------
    expressed : numpy.dtype
        What the integers stand for.
    scales, zero_points : tuple
        One each; or one for each slice along ``axis``.
    axis : int, optional
    low, high : int, optional
        The least and the greatest integer in use; by default those of the storage type.

    Examples
    --------
    >>> print(QuantizedTensorType((4,), np.dtype("int8"), FLOAT32, (0.5,), (-3,)))
    tensor<4x!quant.uniform<i8:f32, 0.5:-3>>
    """

    expressed: np.dtype = field(default=FLOAT32)
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    axis: int | None = None
    low: int | None = None
    high: int | None = None

    @property
    def least(self) -> int:
        """Return the least integer in use."""
        return int(ml_dtypes.iinfo(self.dtype).min) if self.low is None else self.low  # type: ignore[no-untyped-call]

    @property
    def greatest(self) -> int:
        """Return the greatest integer in use."""
        return int(ml_dtypes.iinfo(self.dtype).max) if self.high is None else self.high  # type: ignore[no-untyped-call]

    @property
    def expressed_type(self) -> TensorType:
        """Return the type of the floats that the tensor stands for."""
        return TensorType(self.shape, self.expressed)

    def element(self) -> str:
        """Return the element type's spelling."""
        limits = "" if self.low is None else f"<{self.low}:{self.high}>"
        pairs = zip(self.scales, self.zero_points, strict=True)
        entries = [_scale_text(s) + (f":{zero}" if zero else "") for s, zero in pairs]
        parameters = entries[0] if self.axis is None else f"{{{', '.join(entries)}}}"
        axis = "" if self.axis is None else f":{self.axis}"
        storage = element_spelling(self.dtype).replace("ui", "u")
        return f"!quant.uniform<{storage}{limits}:{element_spelling(self.expressed)}{axis}, {parameters}>"

    def __str__(self) -> str:
        plain = TensorType.__str__(self)
        return f"{plain[: -len(element_spelling(self.dtype)) - 1]}{self.element()}>"

    def broken_constraint(self) -> str:
        """Return the constraint of the specification that the type breaks, or an empty string."""
        whole = ml_dtypes.iinfo(self.dtype)  # type: ignore[no-untyped-call]
        count = len(self.scales)
        ordered = whole.min <= self.least < self.greatest <= whole.max
        checks = (
            (self.dtype in INTEGERS and self.expressed in FLOATS, "(C1) integers must stand for floats"),
            (ordered, "(C3) storage_min and storage_max must be ascending values of the storage type"),
            (all(s > 0 for s in self.scales), "(C5) scales must be positive"),
            (all(map(self._is_finite, self.scales)), "(C6) scales must be finite"),
            (all(self.least <= z <= self.greatest for z in self.zero_points), "(C7) zero points must be in storage"),
            (count == len(self.zero_points), "(C9) there must be as many zero points as scales"),
            (self.axis is not None or count == 1, "(C10) without a dimension there must be one scale"),
            (self.axis is None or 0 <= self.axis < self.ndim, "(C11), (C12) the dimension must be one of the tensor's"),
            (self._fits(count), "(C13) there must be a scale for each slice along the dimension"),
        )
        return next((rule for holds, rule in checks if not holds), "")

    def _is_finite(self, scale: float) -> bool:
        with np.errstate(over="ignore"):
            return math.isfinite(np.array(scale, self.expressed))

    def _fits(self, count: int) -> bool:
        return self.axis is None or not 0 <= self.axis < self.ndim or self.shape[self.axis] in (count, -1)


def _scale_text(scale: float) -> str:
    """Return a float with a point, as MLIR wants it."""
    mantissa, e, exponent = repr(scale).partition("e")
    return f"{mantissa}{'' if '.' in mantissa or not e else '.0'}{e}{exponent}"
