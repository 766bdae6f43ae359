"""SciPy as the oracle of functions of its names: at once, and traced."""

from __future__ import annotations

import numpy as np

from tests.library.agreement import run_traced


def check_module(theirs, ours, f, *operands, rtol=1e-10, atol=1e-10):
    """Assert that ``f(module, *operands)`` gives SciPy's values, shapes and dtypes with our module."""
    wanted = f(theirs, *operands)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for found in (f(ours, *operands), run_traced(lambda *xs: f(ours, *xs), operands)[0]):
        results = found if isinstance(found, tuple) else (found,)
        assert len(results) == len(wanted)
        for mine, other in zip(results, map(np.asarray, wanted), strict=True):
            assert mine.dtype == other.dtype and mine.shape == other.shape
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=atol)
