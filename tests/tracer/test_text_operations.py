"""Text that functions make of traced values: its characters are not known, but it can be shown."""

import collections
import logging
import warnings

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ConcretizationError

ASKING = [
    lambda n: len(f"{n}"),
    lambda n: {f"k{n}": n},
    lambda n: {"k" + str(n): n},
    lambda n: {str(n) + "k": n},
    lambda n: {"k{}".format(n): n},  # noqa: UP032
    lambda n: {"k{a}".format(a=n): n},  # noqa: UP032
    lambda n: {"k%s" % n: n},  # noqa: UP031
    lambda n: {"k%s%d" % (n, 1): n},  # noqa: UP031
    lambda n: {",".join([f"{n!r:}", "a"]): n},
    lambda n: {"a": n}[f"{n}"],
    lambda n: f"{n}" == "3",
    lambda n: f"{n}" in "123",
    lambda n: "3" in f"{n}",
    lambda n: n if f"{f'{n}'}x".endswith("3x") else -n,
    lambda n: int(f"1{n}"),
    lambda n: collections.Counter(f"{n}"),
    lambda n: sorted([f"{n}", "a"]),
]


@pytest.mark.parametrize("f", ASKING)
def test_characters_are_refused(f):
    with pytest.raises(
        ConcretizationError, match=r"(?s)the characters of a traced array as text.* at test_text_operations"
    ):
        numhlo.jit(f).trace(3)


def test_text_is_shown(capsys, caplog):
    def f(n):
        text = "n is " + f"{n:}"
        print(text, "%s" % n, "{}".format(n))  # noqa: T201, UP031, UP032
        logging.getLogger("numhlo").warning(text)
        warnings.warn(text, RuntimeWarning, stacklevel=1)
        if n.dtype == float:
            raise ValueError(f"{text}!")
        return n

    with pytest.warns(RuntimeWarning, match="n is Traced<int64") as caught:
        numhlo.jit(f).trace(3)
    assert caught[0].filename == __file__
    assert capsys.readouterr().out == "n is Traced<int64[]> Traced<int64[]> Traced<int64[]>\n"
    assert caplog.messages == ["n is Traced<int64[]>"]
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match=r"n is Traced<float64\[\]>!"):
        numhlo.jit(f).trace(3.0)


def test_known_values_are_written():
    def f(x):
        found = {}
        for n in np.arange(2):
            found[f"w{n}"], found["s" + str(n)], found["%02d" % n] = x, x, x  # noqa: UP031
            found[f"{n!r:>12}"], found["{:03d}{b}".format(n, b=n)] = x, x  # noqa: UP032
        return found, {f"{np.arange(3)}{np.float32(2.5):.2f}": x}

    assert numhlo.jit(f)(1.0) == f(1.0)
