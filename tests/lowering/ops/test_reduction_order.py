import numpy as np
import pytest

from numhlo.lowering.ops.reduction_order import BLOCK, LANES, reduce_in_order


def one_after_another(combine, elements):
    """The module's docstring as plain loops."""
    total = None
    for start in range(0, len(elements), BLOCK):
        block = elements[start : start + BLOCK]
        lanes = [None] * LANES
        for k, element in enumerate(block):
            lane = k % LANES
            lanes[lane] = element if lanes[lane] is None else combine(lanes[lane], element)
        for half in (8, 4, 2, 1):
            for lane in range(half):
                if lanes[lane + half] is not None:
                    lanes[lane] = combine(lanes[lane], lanes[lane + half])
        total = lanes[0] if total is None else combine(total, lanes[0])
    return total


SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 33, 100, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 19]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_bits_are_those_of_plain_loops(dtype, rng):
    for n in SIZES:
        x = (rng.standard_normal((2, n)) * 10.0 ** rng.integers(-3, 4, (2, n))).astype(dtype)
        near_one = np.exp(rng.standard_normal((2, n)) * 0.01).astype(dtype)
        for ufunc, array in ((np.add, x), (np.multiply, near_one)):
            expected = np.array([one_after_another(ufunc, row) for row in array], dtype)
            strided = np.asfortranarray(array)
            for given in (array, strided, np.repeat(array, 2, axis=-1)[:, ::2]):
                assert reduce_in_order(ufunc, given).tobytes() == expected.tobytes(), (n, ufunc)
            assert reduce_in_order(ufunc, array[0]).tobytes() == expected[0].tobytes(), (n, ufunc)


def test_order_differs_from_left_to_right(rng):
    x = rng.standard_normal(1000).astype(np.float32)
    assert reduce_in_order(np.add, x) != np.add.accumulate(x)[-1]


def test_negative_zeros_stay_negative():
    for n in SIZES:
        assert np.signbit(reduce_in_order(np.add, np.full(n, -0.0)))


def test_no_result_without_rows():
    assert reduce_in_order(np.add, np.ones((0, 5))).shape == (0,)
