from pathlib import Path

import pytest

from numhlo.lowering.ops.special_functions import coefficients
from tests.lowering.ops.derive_special_coefficients import ROWS, derive, module_text


@pytest.mark.slow
def test_the_tables_are_what_the_derivation_writes():
    assert Path(coefficients.__file__).read_text(encoding="utf-8") == module_text()


@pytest.mark.slow
def test_errors_of_the_interpolation():
    for name in ROWS:
        _, _, (single, double) = derive(name)
        assert single < 5e-8
        assert double < 1e-17
