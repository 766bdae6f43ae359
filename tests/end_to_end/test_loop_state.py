"""What a loop carries survives its rounds: no step's scratch space may overlap it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numhlo
from numhlo import lax

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(300, 4))
START = RNG.normal(size=(3, 4))
MIX = RNG.normal(size=(3, 3))


def _total(c: Any) -> Any:
    return np.tanh(DATA @ c.T).sum()


def _plain(rounds: int) -> tuple[np.ndarray, float]:
    c, total = START, 0.0
    for _ in range(rounds):
        total = total + _total(c)
        c = MIX @ c
    return c, total


def _by_while(c: Any) -> Any:
    body = lambda s: (MIX @ s[0], s[1] + _total(s[0]), s[2] + 1)
    return lax.while_loop(lambda s: s[2] < 5, body, (c, 0.0, 0))[:2]


def _by_fori(c: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, s: (MIX @ s[0], s[1] + _total(s[0])), (c, 0.0))


def _by_scan(c: Any) -> Any:
    return lax.scan(lambda s, _: ((MIX @ s[0], s[1] + _total(s[0])), None), (c, 0.0), length=5)[0]


def _nested(c: Any) -> Any:
    inner = lambda _, s: (MIX @ s[0], s[1] + _total(s[0]))
    return lax.fori_loop(0, 5, lambda _, s: lax.fori_loop(0, 1, inner, s), (c, 0.0))


@pytest.mark.parametrize("fun", [_by_while, _by_fori, _by_scan, _nested])
def test_carries_read_after_scratch_space_was_used(fun: Any) -> None:
    expected = _plain(5)
    compiled = numhlo.jit(fun)
    for answer in ("first", "native"):
        c, total = compiled(START)
        np.testing.assert_allclose(c, expected[0], rtol=1e-12, err_msg=answer)
        np.testing.assert_allclose(total, expected[1], rtol=1e-12, err_msg=answer)
        compiled.wait()
