"""How exact a result must be: HLO's ``result_accuracy`` and StableHLO's, which say the same in other words."""

from __future__ import annotations

import re

import numpy as np

from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.accuracy import requested
from numhlo.lowering.text.dense_printer import print_float
from numhlo.lowering.text.foreign import ForeignAttribute

_NUMBER = r"([-+0-9.eE]+|inf|nan)"
_TOLERANCE = re.compile(
    rf"\{{\s*tolerance\s*=\s*\{{\s*atol={_NUMBER}\s*,\s*rtol={_NUMBER}\s*,\s*ulps=(\d{{1,18}})\s*\}}\s*\}}\Z", re.ASCII
)
_MODE = re.compile(r"\{\s*mode\s*=\s*(default|highest)\s*\}\Z", re.ASCII)
_F64 = np.dtype(np.float64)


@record(frozen=True)
class Accuracy:
    """What is asked of a result: nothing, the highest, or a tolerance."""

    mode: str = "DEFAULT"
    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def hlo(self) -> str:
        """Return HLO's text."""
        if self.mode != "TOLERANCE":
            return f"{{mode={self.mode.lower()}}}"
        return f"{{tolerance={{atol={self.atol!r},rtol={self.rtol!r},ulps={self.ulps}}}}}"

    def stablehlo(self) -> ForeignAttribute | None:
        """Return StableHLO's attribute; none where nothing is asked."""
        if self.mode == "DEFAULT":
            return None
        parts = [f"{name} = {print_float(n, _F64)}" for name, n in (("atol", self.atol), ("rtol", self.rtol)) if n]
        parts += [f"ulps = {self.ulps}"] if self.ulps else []
        parts.append(f"mode = #stablehlo.result_accuracy_mode<{self.mode}>")
        return ForeignAttribute(f"#stablehlo.result_accuracy<{', '.join(parts)}>")


def accuracy_of_hlo(text: str) -> Accuracy | None:
    """Return what HLO's text asks for, None where it is none.

    Examples
    --------
    >>> accuracy_of_hlo("{tolerance={atol=1e-05,rtol=0.5,ulps=1}}")
    Accuracy(mode='TOLERANCE', atol=1e-05, rtol=0.5, ulps=1)
    """
    mode, tolerance = _MODE.match(text), _TOLERANCE.match(text)
    if mode is not None:
        return Accuracy(mode[1].upper())
    if tolerance is None:
        return None
    try:
        return Accuracy("TOLERANCE", float(tolerance[1]), float(tolerance[2]), int(tolerance[3]))
    except ValueError:
        return None


def accuracy_of_stablehlo(attribute: object) -> Accuracy:
    """Return what StableHLO's attribute asks for.

    Examples
    --------
    >>> accuracy_of_stablehlo(Accuracy("TOLERANCE", ulps=2).stablehlo()).hlo()
    '{tolerance={atol=0.0,rtol=0.0,ulps=2}}'
    """
    return Accuracy(*requested(attribute))
