"""Whether a result shares memory with its argument: as NumPy has it, seen by writing into either of them."""

import numpy as np
import pytest

import numhlo

COPIES = """
    +x; x**1; x + 0; x * 1; np.positive(x); np.abs(x); np.conj(x); np.floor(x); np.ceil(x); np.trunc(x); np.rint(x); np.fix(x)
    np.round(x); np.round(x, 2); np.clip(x, None, None); np.clip(x, -300, None); np.nan_to_num(x); np.sort(x); np.copy(x)
    np.roll(x, 0); np.roll(x, 4); np.tile(x, 1); np.repeat(x, 1); np.pad(x, 0); np.pad(x, 0, "reflect", reflect_type="odd"); np.resize(x, 4); np.concatenate([x])
    np.append(x, x[:0]); np.delete(x, []); np.take(x, np.arange(4)); np.choose([0] * 4, [x]); np.where(True, x, 0)
    np.select([x == x], [x]); np.sum(x, axis=()); np.max(x[None], axis=0); np.cumsum(x[None], axis=0)[0]; np.stack([x])[0]
    np.hstack([x]); np.block([x]); np.triu(np.stack([x, x]), -9)[0]; np.meshgrid(x)[0]; np.array(x); x.copy(); x.flatten()
    x.astype(x.dtype); x.round(); np.apply_along_axis(lambda line: line, 0, x); np.outer([1], x)[0]; np.median(x[None], axis=0)
"""
VIEWS = """
    x[:]; x.T; x.reshape(-1); x.ravel(); x.view(); np.ravel(x); np.flip(x)[::-1]; np.real(x); np.squeeze(x[None]); np.asarray(x)
    np.atleast_2d(x)[0]; np.split(x, 1)[0]; np.unstack(x[None])[0]; np.diff(x, n=0); np.einsum("i->i", x); x.astype(x.dtype, copy=False)
    np.nan_to_num(x, copy=False); np.expand_dims(x, 0)[0]; np.swapaxes(x, 0, 0); np.rot90(np.rot90(x[None], 3))[0]
"""
EXPRESSIONS = [text.strip() for text in (COPIES + VIEWS).replace("\n", ";").split(";") if text.strip()]


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.oracle("numpy>=2.4")
def test_writing_into_the_result_or_the_argument(expression, dtype):
    function = eval(f"lambda x: {expression}", {"np": np})  # the text is the case

    def written(x, into_result):
        y = function(x)
        if into_result:
            y[0] = 41
        else:
            x[1] = 43
        return y

    for into_result in (True, False):
        expected, found = (np.array([1, 5, -3, 2], dtype) for _ in range(2))
        result = written(expected, into_result)
        np.testing.assert_array_equal(numhlo.jit(written, static_argnums=1)(found, into_result), result)
        np.testing.assert_array_equal(found, expected)
