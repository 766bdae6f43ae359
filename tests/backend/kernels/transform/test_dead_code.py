"""Dead code elimination: definitions that nothing needs go, and nothing else does."""

from textwrap import dedent

import pytest

from numhlo.backend.kernels.transform.dead_code import eliminate_dead_code
from tests.backend.kernels.transform.printed import after, printed, read


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(
            """
            x = address(bufs, 0)
            n = number(dims, 0)
            for i in range(lo, hi):
                k = load_i64(x, i)
                moved = add(k, n)
                is_low = k < to_i64(0)
                chosen = select(is_low, moved, k)
                store_i64(x, i, placed(k, n, 5))
            """,
            """
            x = address(bufs, 0)
            n = number(dims, 0)
            for i in range(lo, hi):
                k = load_i64(x, i)
                store_i64(x, i, placed(k, n, 5))
            """,
            id="chain",
        ),
        pytest.param(
            """
            x = address(bufs, 0)
            y = address(bufs, 1)
            for i in range(lo, hi):
                if i > 3:
                    unused = load_f64(y, i)
                else:
                    store_f64(x, i, 0.0)
            """,
            """
            x = address(bufs, 0)
            for i in range(lo, hi):
                if i > 3:
                    pass
                else:
                    store_f64(x, i, 0.0)
            """,
            id="blocks",
        ),
    ],
)
def test_definitions_that_nothing_needs_go(before, expected):
    found, changed = after(eliminate_dead_code, before)
    assert changed
    assert found == dedent(expected).lstrip()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = address(bufs, 0)\nstore_i64(x, 0, hi)", id="store"),
        pytest.param("x = address(bufs, 0)\nold = atomic_add(x, 0, 1)", id="atomic"),
        pytest.param("x = address(bufs, 0)\nfound = load_acquire(x, 0)", id="order_of_memory"),
        pytest.param("stopped = interrupted(ctx)", id="native"),
        pytest.param("total = 0\nfor i in range(hi):\n    total = total + i", id="variable_that_changes"),
        pytest.param("x = address(bufs, 0)\nn = load_i64(x, 0)\nwhile n > 0:\n    pass", id="condition"),
        pytest.param("x = address(bufs, 0)\nn = load_i64(x, 0)\nfor i in range(n):\n    prefetch(x, i)", id="bound"),
    ],
)
def test_what_has_effects_or_readers_stays(body):
    found, changed = after(eliminate_dead_code, body)
    assert not changed
    assert found == printed(read(body))
