"""Text that functions make of traced values: its characters are not known, but it can be shown."""

import collections
import logging
import types
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
    lambda n: {f"{[n]}": n},
    lambda n: len(str({"a": n})),
    lambda n: repr((n,)) == "(3,)",
    lambda n: f"{types.SimpleNamespace(n=[n])!s}" in "[3]",
    lambda n: {"%s" % [n]: n},
    lambda n: {"{a}".format_map({"a": n}): n},
    lambda n: {",".join(map(str, [n, n])): n},
    lambda n: {ascii({1: n}): n},
    lambda n: {format((n,)): n},
    lambda n: {str([f"{n}"]): n},
    lambda n: b"%a" % [n] == b"[3]",
]


@pytest.mark.parametrize("f", ASKING)
def test_characters_are_refused(f):
    with pytest.raises(
        ConcretizationError, match=r"(?s)the characters of a traced array as text.* at test_text_operations"
    ):
        numhlo.jit(f).trace(3)


def test_bytes_are_refused():
    for f in (lambda n: b"%d" % n == b"3", lambda n: len(bytearray(b"%x") % n)):
        with pytest.raises(
            ConcretizationError, match=r"formatting by b.* of a traced array\n  at test_text_operations"
        ):
            numhlo.jit(f).trace(3)


def test_what_is_known_is_written_as_by_numpy():
    def f(x):
        sizes = np.arange(2) + 1
        names = {f"{[sizes[1]]}": 1.0, str({"a": sizes}): 2.0, b"%d" % sizes[1]: 3.0, repr((sizes.sum(),)): 4.0}
        return x * sum(v * len(k) for k, v in names.items())

    assert numhlo.jit(f)(2.0) == f(2.0)


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
