"""Sums of integer products run as matrix products before there is machine code, and nothing else does."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.runtime import whole_products

CASES = {
    "matrices": (lambda a, b: a @ b, ((30, 40), (40, 50))),
    "transposed": (lambda a, b: a.T @ b.T, ((40, 30), (50, 40))),
    "stacks": (lambda a, b: np.einsum("bij,bjk->bik", a, b), ((3, 20, 30), (3, 30, 20))),
    "two summed": (lambda a, b: np.tensordot(a, b, ([0, 2], [1, 0])), ((4, 30, 5), (5, 4, 20))),
    "with more around": (lambda a, b: (a + 1) @ (b * 2) - 3, ((30, 40), (40, 50))),
}


@pytest.mark.usefixtures("first_answers")
@pytest.mark.parametrize("case", CASES)
def test_first_answers_hold_no_products(case, rng, monkeypatch):
    function, shapes = CASES[case]
    made = []
    product = whole_products._product
    monkeypatch.setattr(whole_products, "_product", lambda op: made.append(product(op)) or made[-1])
    for dtype in (np.int64, np.uint8):
        arrays = [rng.integers(0, 200, shape).astype(dtype) for shape in shapes]
        found = numhlo.jit(function)(*arrays)
        assert found.dtype == dtype
        np.testing.assert_array_equal(np.asarray(found), function(*arrays))
    assert sum(op is not None for op in made) == 2


@pytest.mark.usefixtures("first_answers")
def test_other_sums_of_products_stay(rng):
    x = rng.integers(0, 9, (30, 40))
    functions = (
        lambda x: (x * x).sum(1),
        lambda x: (x[:, None] * 3).sum(0),
        lambda x: (x[:, :, None] * x[:, None, :]).max(0),
        lambda x: (x[:, :, None] * x[:, None, :] + 1).sum(0),
    )
    for function in functions:
        np.testing.assert_array_equal(np.asarray(numhlo.jit(function)(x)), function(x))
