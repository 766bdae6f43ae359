"""Functions written to files and read back: structures, updated arguments, transformations, and what is refused."""

import dataclasses
import json
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ArgumentError, MutationError, ShapeError, UnsupportedError
from numhlo.tree_util import register_dataclass
from tests.oracle import official_parse


class Params(NamedTuple):
    w: object
    b: object


@register_dataclass
@dataclasses.dataclass
class State:
    x: object
    kind: str = dataclasses.field(default="plain", metadata={"static": True})


SCALE = np.array([1.0, 2.0, 3.0])


def step(params, state, *rest, rate):
    """Write into two arguments; return a structure of all kinds."""
    params.w[...] -= rate * SCALE
    state.x[1:] = params.w[:2]
    results = OrderedDict(z=params.w.sum(), a=[rest[0], None])
    return results, State(state.x * 2, "twice"), {1: params.b, 0: ()}


def arguments():
    return Params(np.arange(3.0), np.float32(4)), State(np.ones(3)), np.arange(2)


@pytest.fixture
def saved(tmp_path):
    exported = numhlo.export(step, *arguments(), rate=0.5)
    exported.save(tmp_path / "step.mlir")
    return exported, numhlo.load(tmp_path / "step.mlir")


def test_structures_and_updates_survive_the_file(saved):
    expected_arguments = arguments()
    expected = step(*expected_arguments, rate=0.25)
    for exported in saved:
        given = arguments()
        found = exported(*given, rate=0.25)
        assert type(found[0]) is OrderedDict and list(found[0]) == ["z", "a"]
        assert found[1].kind == "twice" and found[2][0] == ()
        for x, y in zip(numhlo.tree_util.tree_leaves(found), numhlo.tree_util.tree_leaves(expected), strict=True):
            np.testing.assert_array_equal(x, y)
            assert x.dtype == np.asarray(y).dtype
        np.testing.assert_array_equal(given[0].w, expected_arguments[0].w)
        np.testing.assert_array_equal(given[1].x, expected_arguments[1].x)
    assert official_parse(saved[1].as_text())
    assert saved[1].as_text() == saved[0].as_text()


def test_loaded_functions_are_traced_like_others(saved):
    def total(w, call):
        params = Params(w.copy(), np.float32(4))
        results, state, _ = call(params, State(np.ones(3)), np.arange(2), rate=0.5)
        return results["z"] * state.x.sum() + params.w[0]

    plain = lambda w: total(w, step)
    loaded = lambda w: total(w, saved[1])
    w = np.arange(3.0)
    np.testing.assert_allclose(numhlo.jit(loaded)(w), total(w, step))
    np.testing.assert_allclose(numhlo.jit(numhlo.grad(loaded))(w), numhlo.grad(plain)(w))
    np.testing.assert_allclose(numhlo.vmap(loaded)(np.stack([w, -w])), [total(w, step), total(-w, step)])


def test_a_file_needs_neither_the_source(tmp_path):
    numhlo.export(numhlo.jit(lambda d, n: {"y": d["x"] * n}, static_argnums=1), {"x": np.ones(2)}, 3).save(
        tmp_path / "f.mlir"
    )
    code = "import sys, numpy as np, numhlo; print(numhlo.load(sys.argv[1])({'x': np.arange(2.0)}))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "f.mlir")], capture_output=True, text=True, check=True, timeout=200
    )
    assert done.stdout == "{'y': Array([0., 3.])}\n"


def test_programs_of_others_are_called_by_position(tmp_path):
    path = tmp_path / "other.mlir"
    path.write_text("func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) { "
                    "return %x, %x : tensor<2xf32>, tensor<2xf32> }")  # fmt: skip
    x = np.ones(2, np.float32)
    assert all(np.array_equal(y, x) for y in numhlo.load(path)(x))


def test_calls_that_do_not_fit_are_refused(saved):
    exported = saved[1]
    params, state, extra = arguments()
    with pytest.raises(ArgumentError, match="other arguments than it was exported for"):
        exported(params, state, extra)
    with pytest.raises(ShapeError):
        exported(params, state, np.arange(3), rate=0.5)
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    with pytest.raises(MutationError, match=r"writes into argument \[0\]\[0\]\.w, which is read-only"):
        exported(Params(frozen, params.b), state, extra, rate=0.5)
    with pytest.raises(MutationError, match="shares memory"):
        exported(Params(state.x, params.b), state, extra, rate=0.5)
    assert np.array_equal(state.x, np.ones(3))


def test_what_no_file_can_hold_is_refused():
    def calls_back(x):
        return numhlo.pure_callback(np.sin, numhlo.ShapeDtypeStruct((2,), np.float64), x)

    with pytest.raises(UnsupportedError, match="calls the Python function sin"):
        numhlo.export(calls_back, np.ones(2))

    class Local(NamedTuple):
        x: object

    with pytest.raises(ArgumentError, match="can't be written into a file"):
        numhlo.export(lambda t: t.x, Local(np.ones(2)))
    with pytest.raises(ArgumentError, match=r"metadata .* can't be written"):
        numhlo.export(lambda d: d[b"key"], {b"key": np.ones(2)})


def test_lost_derivative_rules_are_warned_of():
    @numhlo.custom_jvp
    def square(x):
        return x * x

    square.defjvp(lambda primals, tangents: (square(*primals), 7.0 * tangents[0]))
    with pytest.warns(UserWarning, match="has a custom_jvp rule, which is not exported"):
        exported = numhlo.export(lambda x: numhlo.jit(square)(x), 3.0)
    assert exported(3.0) == 9


CALL = {"arguments": ["builtins:tuple", None, [["builtins:tuple", None, ["*"]], ["builtins:dict", [], []]]]}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("{", "can't be read"),
        ("[]", "can't be read"),
        (CALL, "can't be read"),
        ({**CALL, "results": ["os:system", None, []], "updated": []}, "not there"),
        ({**CALL, "results": ["builtins:int", None, ["*"]], "updated": []}, "no container"),
        ({**CALL, "results": ["absent.module:Thing", None, ["*"]], "updated": []}, "import absent.module before"),
        ({**CALL, "results": ["builtins:dict", ["a", "b"], ["*"]], "updated": []}, "has the keys"),
        ({**CALL, "results": [1, 2], "updated": []}, "is no structure"),
        ({**CALL, "results": None, "updated": []}, "not about this program"),
        ({**CALL, "results": None, "updated": [1]}, "not about this program"),
        ({**CALL, "results": None, "updated": [1.5]}, "can't be read"),
        ('{"arguments": ' + "[" * 30_000, "it is nested deeper than 400 levels"),
        ('{"arguments": ' + "[" * 30_000 + "]" * 30_000 + "}", "it is nested deeper than 400 levels"),
        (
            '{"arguments": ' + '["builtins:tuple", null, [' * 300 + '"*"' + "]]" * 300 + "}",
            "nested deeper than 400 levels",
        ),
        ('{"arguments": "' + "[" * 30_000 + '"}', r"'\[{79} is no structure"),
        ('{"arguments": 1' + "0" * 5000 + "}", "can't be read"),
    ],
)
def test_files_with_a_wrong_attribute_are_refused(tmp_path, call, message):
    text = (call if isinstance(call, str) else json.dumps(call)).replace('"', r"\22")
    path = Path(tmp_path, "wrong.mlir")
    path.write_text(f'module attributes {{numhlo.call = "{text}"}} {{\n'
                    "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n}")  # fmt: skip
    with pytest.raises(ArgumentError, match=message):
        numhlo.load(path)


def test_structures_that_nest_too_deeply_are_not_exported():
    nested = deep = np.ones(2)
    for k in range(300):
        nested, deep = (nested,) if k < 150 else nested, (deep,)
    found = numhlo.export(lambda x: x, nested)
    assert numhlo.tree_util.tree_leaves(found(nested))[0].shape == (2,)
    with pytest.raises(ArgumentError, match="nested too deeply to be written into a file"):
        numhlo.export(lambda x: x, deep)
