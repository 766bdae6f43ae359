"""What wrong uses of transformations and control flow say: what, the user's line, why, and the fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import NumhloError

X = np.arange(3.0)
grad, jvp, vmap = numhlo.grad, numhlo.jvp, numhlo.vmap

ERRORS: list[tuple[Callable[[], Any], type[Exception], str, str]] = [
    (
        lambda: numhlo.jit(lambda x: lax.cond(x > 0, x, -x))(1.0),
        TypeError,
        "cond: true_fun is an array float64[], no function",
        "it is called with the operands; pass functions, then their operands: cond(pred, lambda x: x, lambda x: -x, x)",
    ),
    (lambda: lax.cond(True, lambda x: x, 1.0, 2.0), TypeError, "cond: false_fun is of class float", "pass functions"),
    (lambda: lax.switch(1, [abs, X], X), TypeError, "switch: branch 1 is of class ndarray", "pass functions, then"),
    (lambda: lax.scan(X, 0.0, X), TypeError, "scan: f is of class ndarray", "pass a function"),
    (lambda: lax.while_loop(abs, 3, 1.0), TypeError, "while_loop: body_fun is of class int", "pass a function"),
    (lambda: lax.fori_loop(0, 3, 4, 1.0), TypeError, "fori_loop: body_fun is of class int", "pass a function"),
    (lambda: lax.map(X, X), TypeError, "map: f is of class ndarray", "pass a function"),
    (lambda: grad(3.0), TypeError, "grad: fun is of class float, no function", "pass a function"),
    (lambda: vmap(X), TypeError, "vmap: fun is of class ndarray, no function", "pass a function"),
    (
        lambda: grad(lambda x: None)(1.0),
        ValueError,
        "grad: the function must return a scalar, and it returns None",
        "a gradient is of one number; end it with a return of the scalar",
    ),
    (
        lambda: grad(lambda x: (x, x))(1.0),
        ValueError,
        "grad: the function must return a scalar, and it returns a tuple of 2 arrays",
        "return one of them; has_aux=True lets it return a pair of a scalar and anything; vjp and jacrev take several",
    ),
    (
        lambda: grad(lambda x: x * 2)(X),
        ValueError,
        "grad: the function must return a scalar, got shape [3]",
        "a gradient is of one number; sum the result, or use jacrev or vjp",
    ),
    (
        lambda: grad(lambda x: (x > 0).sum())(X),
        TypeError,
        "grad: the function must return a float, got int64",
        "integers and truth values do not change smoothly, so there is no slope; compute it in floats",
    ),
    (
        lambda: grad(lambda x: x * 1j)(1.0),
        TypeError,
        "grad: the function must return a real scalar, got complex128",
        "return a float, or pass holomorphic=True",
    ),
    (
        lambda: grad(lambda x: x.sum() * 1.0)(np.arange(3)),
        TypeError,
        "grad: the derivative with respect to an argument of dtype int64",
        "derivatives exist with respect to floats and complex numbers; convert it (x.astype(float), 3.0 for 3)",
    ),
    (
        lambda: grad(lambda x: x)(x=1.0),
        ValueError,
        "grad: argnums=0 for a call with 0 positional arguments",
        "argnums counts positional arguments, and keyword arguments are taken for constants; pass the argument by",
    ),
    (
        lambda: numhlo.jacfwd(lambda x: x)(1j),
        TypeError,
        "jacfwd of a complex argument needs holomorphic=True",
        "only where it is holomorphic; pass holomorphic=True to jacfwd, or take real and imaginary part for arguments",
    ),
    (
        lambda: jvp(lambda x: x["a"], ({"a": X},), ({"b": X},)),
        ValueError,
        "jvp: primals and tangents differ in structure",
        "primals are PyTreeDef(({'a': *},)), tangents are PyTreeDef(({'b': *},)); each primal has a tangent; give the",
    ),
    (
        lambda: jvp(lambda x: x, (X,), (X[:2],)),
        ValueError,
        "jvp: a primal of shape [3] with a tangent of shape [2]",
        "give a tangent of the primal's shape",
    ),
    (
        lambda: jvp(lambda x: x, (X,), (X * 1j,)),
        TypeError,
        "jvp: a primal of dtype float64 with a tangent of dtype complex128",
        "the tangent's imaginary part would be lost; give its real part, or a complex primal",
    ),
    (
        lambda: numhlo.vjp(lambda x: (x, x), X)[1](X),
        ValueError,
        "vjp: a cotangent of structure PyTreeDef(*) for results of structure PyTreeDef((*, *))",
        "there is one for each of the results, in the same containers; give the same containers",
    ),
    (
        lambda: vmap(lambda x, y: x)({"a": X}, y=X[:2]),
        ValueError,
        "vmap: mapped axes have different extents: 3 (argument 0['a']), 2 (argument y)",
        "the number of examples; make them equal, or say with in_axes=None which arguments all examples share",
    ),
    (
        lambda: vmap(lambda x: x, in_axes=1)(X),
        ValueError,
        "vmap: argument 0 of shape [3] has no axis 1",
        "each example is one slice of it; use in_axes=None for an argument that all examples share",
    ),
    (
        lambda: vmap(lambda d: d["a"], in_axes=({"b": 0},))({"a": X}),
        ValueError,
        "vmap: in_axes={'b': 0} does not fit PyTreeDef({'a': *})",
        "which axis is mapped; None: all examples share it; give an int, None, or a pytree with the same outer structure",
    ),
    (
        lambda: vmap(lambda x, y: x, in_axes=(0,))(X, X),
        ValueError,
        "vmap: in_axes has 1 entries for 2 positional arguments",
        "it has an entry for each of them; keyword arguments are mapped along their first axes; give one int or None",
    ),
    (
        lambda: vmap(lambda: 1.0)(),
        ValueError,
        "vmap: no argument is mapped",
        "the number of examples is not known; map one, or pass axis_size=",
    ),
    (
        lambda: vmap(lambda x: {"a": x, "b": 1.0}, out_axes=None)(X),
        ValueError,
        "vmap: result['a'] differs by example, but out_axes is None",
        "out_axes=None returns one value for all examples; give the axis along which to stack, or reduce over the",
    ),
]


def test_wrong_uses_say_what_where_why_and_what_to_write() -> None:
    for run, error, what, rest in ERRORS:
        with pytest.raises(error) as caught:
            run()
        assert isinstance(caught.value, NumhloError)
        lines = str(caught.value).splitlines()
        assert lines[0].startswith(what), lines
        assert "test_transformation_errors.py" in lines[1]
        assert rest in lines[2]
        assert "; " in lines[2]  # why, and the fix
