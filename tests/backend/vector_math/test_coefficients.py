"""The constants in the code are those that docs/vector_math/derive_coefficients.py derives."""

import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_constants_are_the_derived_ones():
    path = ROOT / "docs" / "vector_math" / "derive_coefficients.py"
    spec = importlib.util.spec_from_file_location("derive_coefficients", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    for name, fit in script.FITS.items():
        module, constant = name.split(".")
        room = importlib.import_module(f"numhlo.backend.vector_math.{module}")
        parts = fit.rounded()
        names = [constant] if len(parts) == 1 else _quotient_names(constant)
        for derived, found in zip(parts, names, strict=True):
            values = np.array(getattr(room, found), np.float64)
            if found == "ERFC_F64":  # its first coefficient is in two parts
                values[0] += room.ERFC_FIRST
            np.testing.assert_allclose(values, derived, rtol=1e-12, err_msg=name)


def _quotient_names(constant):
    stem, short = (constant[:-6], "_SHORT") if constant.endswith("_SHORT") else (constant, "")
    return [f"{stem}_P{short}", f"{stem}_Q{short}"]
