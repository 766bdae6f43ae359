"""Branches and iterations that leave values of different structure are refused in the words of the user's program."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ControlFlowTypeError


def fills_under_if(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return np.array(found)


def fills_until(x):
    found = []
    for v in x:
        if v > 1:
            break
        found.append(v)
    return np.array(found)


def fills_in_while(x):
    found = []
    while x[0] < 3:
        x = x + 1
        found.append(x[0])
    return np.array(found)


def takes_away(x):
    found = [x[0]]
    if x[0] > 2:
        found.pop()
    return np.array(found)


def notes_keys(x):
    found = {}
    for k in range(3):
        if x[k] > 1:
            found[k] = x[k]
    return found


def two_shapes(x):
    if x[0] > 0:
        y = np.zeros(3)
    else:
        y = np.zeros(4)
    return y


def none_or_array(x):
    found = None
    if x[0] > 0:
        found = x
    return x if found is None else found


def two_results(x):
    if x[0] > 0:
        return x
    return x, x


def expression(x):
    return np.zeros(3) if x[0] > 0 else np.zeros(2)


def doubles_length(x):
    while x.sum() < 10:
        x = np.concatenate([x, x])
    return x


@pytest.mark.parametrize(
    ("function", "lines"),
    [
        (fills_under_if, ("an if on a traced condition leaves the list 'found' with 1 item", "0 items", "if v > 0:")),
        (fills_until, ("leaves the list 'found' with 1 item in one branch, and 0 items in the other", "buffer[count]")),
        (fills_in_while, ("a while on a traced condition changes the list 'found' from 0 items to 1 item", "np.where")),
        (takes_away, ("the list 'found' with 0 items in one branch, and 1 item in the other", "if x[0] > 2:")),
        (notes_keys, ("leaves the dict 'found' with the keys [0] in one branch, and the keys [] in the other",)),
        (two_shapes, ("leaves 'y' as float64[3] in one branch, and float64[4] in the other", "if x[0] > 0:")),
        (none_or_array, ("leaves 'found' as float64[3] in one branch, and None in the other",)),
        (two_results, ("a return on a traced condition gives float64[3] in one branch, and a tuple of 2",)),
        (expression, ("a conditional expression on a traced condition gives float64[3]", "np.zeros(3) if x[0] > 0")),
        (doubles_length, ("a while on a traced condition changes 'x' from float64[3] to float64[6]", "while x.sum()")),
    ],
)
def test_the_error_names_the_variable_and_what_to_write(function, lines):
    with pytest.raises(ControlFlowTypeError) as caught:
        numhlo.jit(function, autograph=True)(np.arange(3.0))
    message = str(caught.value)
    assert [line for line in lines if line not in message] == [], message
    assert f"in {function.__name__}" in message
    assert "true_fun" not in message
    assert "the body" not in message
