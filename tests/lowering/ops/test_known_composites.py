"""Composites of numhlo's own names in a text: what they say of sizes is compared with their types before it is believed."""

import numpy as np
import pytest

import numhlo
from numhlo import lax, stablehlo
from numhlo.lowering.ir.errors import NumhloError, UnsupportedError, VerificationError
from numhlo.lowering.ops.control_flow import WHILE

X = np.arange(1.0, 13.0).reshape(4, 3)

PROGRAMS = {
    "scan": lambda x: lax.scan(lambda c, r: (c + r.sum(), c * r), 0.0, x),
    "map": lambda x: lax.map(lambda r: r.sum(), x),
    "cumsum": lambda x: numhlo.numpy.cumsum(x, axis=1),
    "erf": lambda x: lax.erf(x),
    "stop_gradient": lambda x: lax.stop_gradient(x) * x,
    "qr": lambda x: numhlo.numpy.linalg.qr(x)[1],
}


def text(name):
    found = numhlo.export(PROGRAMS[name], X).as_text()
    assert f'"numhlo.{name}"' in found
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_exported_is_believed(name):
    found = stablehlo.parse(text(name)).interpret("main", X)
    for x, y in zip(found, numhlo.tree_util.tree_leaves(PROGRAMS[name](X)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


WRONG = {
    ("scan", "length = 4", "length = 4000000"): "operands must be those of the body, for 4000000 steps",
    ("scan", "length = 4 : i64, ", ""): "length must be an integer of at least 0, not None",
    ("scan", "length = 4", "length = -4"): "length must be an integer of at least 0, not -4",
    ("scan", "num_consts = 0", "num_consts = 2"): "the body must take 2 values",
    ("scan", "num_carries = 1", "num_carries = 0"): "operands must be those of the body, for 4 steps",
    ("scan", "num_carries = 1 : i64", "num_carries = {}"): "num_carries must be an integer of at least 0, not {}",
    ("scan", "reverse = false", "reverse = 1"): "reverse must be true or false, not 1",
    ("scan", "numhlo.scan", "numhlo.map"): "lanes must be an integer of at least 0, not None",
    ("scan", "numhlo.scan", "numhlo.erf"): "there must be 1 operands, not 2",
    ("map", "lanes = 4", "lanes = 5"): "operands must be those of the body, for 5 steps",
    ("map", "numhlo.map", "numhlo.erf"): "operands and result must have one type",
    ("map", "numhlo.map", "numhlo.stop_gradient"): "the result must have the operand's type",
    ("map", "numhlo.map", "numhlo.cumsum"): "the result must have the operand's type",
    ("cumsum", "axis = 1", "axis = 2"): "axis must be one of 2, not 2",
    ("cumsum", "axis = 1", "axis = -1"): "axis must be an integer of at least 0, not -1",
    ("cumsum", "numhlo.cumsum", "numhlo.scan"): "length must be an integer of at least 0, not None",
    ("erf", "numhlo.erf", "numhlo.map"): "lanes must be an integer of at least 0, not None",
}  # fmt: skip


@pytest.mark.parametrize(("change", "rule"), WRONG.items(), ids=[" ".join(c) for c in WRONG])
@pytest.mark.parametrize("way", ["interpret", "run", "verify"])
def test_what_does_not_fit_is_refused(change, rule, way):
    name, old, new = change
    changed = stablehlo.parse(text(name).replace(old, new, 1))
    with pytest.raises(NumhloError) as caught:
        changed.verify() if way == "verify" else getattr(changed, way)("main", X)
    assert isinstance(caught.value, VerificationError) and caught.value.what.endswith(rule)


def test_a_decomposition_is_verified_before_it_is_believed():
    module = stablehlo.parse(text("scan"))
    (loop,) = (op for function in module.graph.reachable() for op in function.body.walk() if op.definition is WHILE)
    loop.regions = loop.regions[:1]
    with pytest.raises(VerificationError, match="1 regions, not 2"):
        module.verify()


def test_open_extents_are_left_to_the_run():
    open_text = text("cumsum").replace("4x3", "?x3")
    assert stablehlo.parse(open_text.replace("axis = 1", "axis = 2")).verify() is None
    with pytest.raises(VerificationError, match="axis must be one of 2, not 2"):
        stablehlo.parse(open_text.replace("axis = 1", "axis = 2")).run("main", X)


@pytest.mark.parametrize("name", ["parts", "unwritten", "strided_update"])
def test_names_of_plans_are_refused(name):
    changed = text("erf").replace("numhlo.erf", f"numhlo.{name}")
    with pytest.raises(UnsupportedError, match=f"composite 'numhlo.{name}' can't be run"):
        stablehlo.parse(changed).run("main", X)
    renamed = text("erf").replace("numhlo.erf", "other.erf")
    np.testing.assert_allclose(stablehlo.parse(renamed).run("main", X)[0], PROGRAMS["erf"](X), rtol=1e-12)
