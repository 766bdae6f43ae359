"""Expression graphs of kernels: values seen through views."""

import numpy as np
import pytest

import numhlo


def filled(c, n):
    for _ in range(n):
        c.fill(c[1])
    return c


def turned(c, n):
    for _ in range(n):
        c[:] = c[::-1]
        c = c.reshape(2, 3).T.reshape(-1)
    return c


@pytest.mark.parametrize("function", [filled, turned])
def test_any_number_of_views_may_lie_between_an_array_and_what_is_read(function):
    found, wanted = np.arange(6.0), np.arange(6.0)
    result = numhlo.jit(function, static_argnums=1, tier0=False)(found, 401)
    np.testing.assert_array_equal(result, function(wanted, 401))
    np.testing.assert_array_equal(found, wanted)
