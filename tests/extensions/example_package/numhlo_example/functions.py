"""Functions by name: one in Python, and one in native code."""

import numba
import numpy as np
from numba import types

import numhlo

SIGNATURE = types.void(types.CPointer(types.float64), types.CPointer(types.CPointer(types.float64)))


def _softplus(x, sharpness):
    return np.logaddexp(0.0, sharpness * x) / sharpness


softplus = numhlo.custom_call(
    "example.softplus",
    _softplus,
    result=lambda x, sharpness: x,
    batching="broadcast_all",
    jvp=lambda primals, tangents, result, sharpness: tangents[0] / (1 + np.exp(-sharpness * primals[0])),
)


@numba.cfunc(SIGNATURE)
def _decay(out, inputs):
    count, rate, x = int(inputs[2][0]), inputs[1][0], inputs[0]
    level = 0.0
    for i in range(count):
        level = level * rate + x[i]
        out[i] = level


_decayed = numhlo.custom_call(
    "example.decay",
    _decay,
    result=lambda x, rate, count: x,
    linear=(0,),
    transpose=lambda ct, x, rate, count: (_decayed(ct[::-1], rate, count)[::-1], None, None),
)


def decay(x, rate):
    """Return the levels of what decays by a rate while more is added: a native loop, which is linear in what is added."""
    return _decayed(x, rate, np.float64(x.shape[0]))
