"""Ops of the dialect ``example``: one that means others, and one with a kernel of its own."""

import numba
import numpy as np

from numhlo.extending import REQUIRED, define_op
from numhlo_example.functions import SIGNATURE

rotate = define_op(
    "example.rotate",
    result=lambda x, steps: x,
    attributes={"steps": REQUIRED},
    verify=lambda x, steps: None if x.shape else "a scalar can't be rotated",
    decomposition=lambda x, steps: np.roll(x, -steps),
)


@numba.cfunc(SIGNATURE)
def _running_maximum(out, inputs):
    count, x = int(inputs[1][0]), inputs[0]
    greatest = x[0]
    for i in range(count):
        greatest = max(greatest, x[i])
        out[i] = greatest


def _differentiate(primals, tangents, result):
    """Return the tangent of the element that was the greatest so far."""
    x, count = primals
    places = np.arange(x.shape[0])
    taken = np.maximum.accumulate(np.where(x == result, places, 0))
    return tangents[0][taken]


_maximum = define_op(
    "example.running_maximum",
    result=lambda x, count: x,
    verify=lambda x, count: None if len(x.shape) == 1 and x.dtype == np.float64 else "it takes a line of float64",
    implementation=lambda x, count: np.maximum.accumulate(x),
    kernel=_running_maximum,
    jvp=_differentiate,
)


def running_maximum(x):
    """Return the greatest element up to each."""
    return _maximum(x, np.float64(x.shape[0]))
