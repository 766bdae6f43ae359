"""Single assignment form: what Numba's own pass makes of the same function."""

import re

import pytest
from numba.core import ir, ssa
from numba.core.compiler import run_frontend

from numhlo.backend.compiler.single_assignment import in_single_assignment


def branches(a, b):
    if a > b:
        x, y = a, b
    elif a == b:
        y = x = a
    else:
        x, y = b, a
    if x > 3:
        x -= y
    return x * y


def perhaps_undefined(a):
    if a:
        x = 1
    return x


def loops(n, m):
    total, last = 0, 1
    for i in range(n):
        for j in range(m):
            if j > i:
                last, total = total, last + j
                continue
            if total > 1000:
                break
            total += last
        else:
            last = i
        while last > 7:
            last = last // 2
            total -= last
    return total, last


def stores(x, n):
    value = 0.0
    for i in range(n):
        x[i] = value
        value = x[i + 1]
        x[i], value = value, value + x[i]
    return value


def early(n):
    k = n
    while True:
        k = k - 1
        if k == 5:
            return k
        if k < 0:
            k = n * 2
        if k > 100:
            break
    return k + n


def text(blocks):
    """Return the statements as text, without the lines that they come from."""
    body = [(label, [str(statement) for statement in block.body]) for label, block in blocks.items()]
    return re.sub(r", [^,()]*\.py:\d+\)", ")", str(body))


@pytest.mark.parametrize("function", [branches, perhaps_undefined, loops, stores, early])
def test_as_numba_does(function):
    given = run_frontend(function).blocks
    wanted = ssa._run_ssa(run_frontend(function).blocks)
    assert text(wanted) != text(given)
    assert text(in_single_assignment(given)) == text(wanted)


def test_every_variable_is_assigned_once():
    blocks = in_single_assignment(run_frontend(loops).blocks)
    targets = [s.target.name for block in blocks.values() for s in block.body if isinstance(s, ir.Assign)]
    assert len(targets) == len(set(targets))
