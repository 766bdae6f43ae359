"""Stages and `explain`: text, types, figures, and the refusal of calls that a compiled stage was not made for."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import numhlo
from numhlo import ShapeDtypeStruct
from numhlo.compilation.stages import Compiled, Lowered, Traced
from numhlo.lowering.ir.errors import ArgumentError, OutOfMemoryError, UnsupportedError
from numhlo.lowering.text import parse

WEIGHTS = np.arange(4.0).reshape(2, 2)


def double(x, params, *, n=2):
    return {"y": x * n + params["b"]}


def test_the_staged_path():
    f = numhlo.jit(double, static_argnames="n")
    traced = f.trace(ShapeDtypeStruct((3,), np.float32), {"b": 1.0}, n=4)
    assert isinstance(traced, Traced) and traced.name == "double"
    assert traced.out_info == {"y": ShapeDtypeStruct((3,), np.float32)}
    lowered = traced.lower()
    assert (lowered.out_info, lowered.in_tree, lowered.out_tree) == (traced.out_info, traced.in_tree, traced.out_tree)
    assert isinstance(lowered, Lowered) and lowered.as_text() == traced.as_text()
    types = "(tensor<3xf32>, tensor<f64>) -> (tensor<3xf32>)"
    assert (repr(traced), repr(lowered)) == (f"<traced double: {types}>", f"<lowered jit_double: {types}>")
    text = lowered.as_text()
    assert text.startswith("module @jit_double {\n  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<f64>)")
    assert '"stablehlo.multiply"' in lowered.as_text(generic=True)
    compiled = lowered.compile()
    assert isinstance(compiled, Compiled)
    result = compiled(np.ones(3, np.float32), {"b": 1.0})["y"]
    assert result.dtype == np.float32 and result.tolist() == [5, 5, 5]
    assert "stablehlo" in compiled.as_text() and f.cache_info().misses == 0
    assert compiled.memory_analysis().argument_bytes == 12 + 8 and compiled.memory_analysis().result_bytes == 12
    assert set(compiled.cost_analysis()) == {"flops", "bytes accessed", "launches", "python steps"}
    signature = "double(x: float32[3], params['b']: Python float, n=4)"
    assert compiled.explain().startswith(f"{signature}\n") and repr(compiled) == f"<compiled {signature}>"


def test_kernels_of_one_name_are_all_listed():
    x, y = np.ones(40, np.float32), np.ones(30)
    compiled = numhlo.jit(lambda x, y: (x + x, y + y)).lower(x, y).compile()
    first, second = compiled._entry.program.kernels
    assert first.name == second.name
    assert compiled.kernels == {first.name: first.source, f"{first.name}_2": second.source}
    for found, expected in zip(compiled(x, y), (x + x, y + y), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_compiled_stages_have_kernels():
    with numhlo.switches.using(engine="compiled"):
        compiled = numhlo.jit(lambda x: np.exp(np.exp(x)) * 2 + x).lower(np.ones(1000)).compile()
    x = np.linspace(0, 1, 1000)
    np.testing.assert_allclose(compiled(x), np.exp(np.exp(x)) * 2 + x, rtol=1e-14)
    (source,) = compiled.kernels.values()
    assert "def " in source
    assert compiled.cost_analysis()["flops"] > 1000 and compiled.cost_analysis()["launches"] == 1
    assert "kernels: 1" in compiled.explain()
    assert re.search(r"\n    map_\w+: exponential x 2, .* \(test_stages.py:\d+\); .*units", compiled.explain())


def test_a_compiled_stage_has_one_signature():
    compiled = numhlo.jit(double, static_argnames="n").lower(np.ones(3), {"b": np.ones(3)}, n=3).compile()
    with pytest.raises(ArgumentError) as caught:
        compiled(np.ones(4), {"b": np.ones(3)})
    assert str(caught.value) == (
        "compiled double(x: float64[3], params['b']: float64[3], n=3) was called with x: float64[4]\n"
        '  at test_stages.py:74 in test_a_compiled_stage_has_one_signature:  compiled(np.ones(4), {"b": np.ones(3)})\n'
        "  a compiled stage has one signature; call the jitted function instead, which compiles for new ones"
    )
    with pytest.raises(ArgumentError, match="static arguments out"):
        compiled(np.ones(3), {"b": np.ones(3)}, n=3)


def test_captured_arrays_are_constants_of_the_module():
    f = numhlo.jit(lambda x: x @ WEIGHTS)
    text = f.lower(np.ones(2)).as_text()
    assert "@main(%arg0: tensor<2xf64>) -> tensor<2xf64>" in text and "call @" in text
    module = parse(text)
    assert module.functions[0].name == "main"


def test_explain():
    f = numhlo.jit(double, static_argnames="n")
    assert f.explain() == "double: 0 entries, 0 hits, 0 misses"
    x = np.ones(3)
    f(x, {"b": 1.0})
    f(x, {"b": 1.0})
    f(np.ones(4), {"b": 1.0})
    f(x.astype("f4"), {"b": 1.0})
    f(x, {"b": 1})
    f(x, {"b": 1.0}, n=3)
    f(x, {"b": 1.0, "c": 2.0})
    causes = [line.split(": ", 1)[1] for line in f.explain().splitlines() if "traced because" in line]
    assert causes == [
        "first: nothing was compiled before",
        "shape: x was float64[3], now float64[4]",
        "dtype: x was float64[3], now float32[3]",
        "weak: params['b'] was Python float, now Python int",
        "static: argument n is new",
        "tree: params['c'] is new",
    ]
    assert "double(x: float64[3], params['b']: Python float)\n  traced because: first" in f.explain()
    assert "  called 2 times" in f.explain()
    f(x, {"b": 1.0}, n=4)
    assert "static: n was 3, now 4" in f.explain()
    f.clear_cache()
    assert f.cache_info() == (0, 0, 512, 0) and f.explain() == "double: 0 entries, 0 hits, 0 misses"


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr("numhlo.compilation.cache.MOST_KEYS", 3)
    f = numhlo.jit(lambda x: x + 1)
    for n in range(6):
        f(np.ones(n))
    assert f.cache_info().currsize == 3 and f.cache_info().misses == 6
    f(np.ones(5))
    assert f.cache_info().misses == 6
    assert "older entries are gone" in f.explain()


def test_switches():
    with (
        pytest.raises(ArgumentError, match=r"engine='fast'\n  at test_stages.py.*\n.*use one of compiled, interpreter"),
        numhlo.switches.using(engine="fast"),
    ):
        pass
    with pytest.raises(ArgumentError, match="no switch 'speed'"), numhlo.switches.using(speed="fast"):
        pass
    with numhlo.switches.using(engine="interpreter"):
        f = numhlo.jit(lambda x: x + 1)
        f(1)
        assert "runs op by op on the reference interpreter" in f.explain()


def test_a_view_comes_from_the_line_that_makes_it():
    def function(x, i):
        first = code.co_firstlineno
        y = x * first
        part = y[1:].T
        one = y[i]

        return part, np.exp(one)

    code = function.__code__
    traced = numhlo.jit(function).trace(np.ones((3, 4)), 1)
    lines = {op.definition.name: op.location.line - code.co_firstlineno for op in traced.module.main.body.walk()}
    assert (lines["slice"], lines["transpose"], lines["dynamic_slice"], lines["exponential"]) == (3, 3, 4, 6)


def test_steps_of_an_unrolled_loop_are_counted():
    def function(x):
        for _ in range(8):
            x = x - x.mean(axis=1, keepdims=True)
            x = x / np.abs(x).max()
        return x

    lines = numhlo.jit(function).lower(np.ones((50, 50))).compile().explain().splitlines()
    (again,) = (line for line in lines if " again, " in line)
    assert re.fullmatch(r" *these (\d+) steps again, (\d+) x", again)
    assert len(lines) < 30


def test_stages_are_fixed_and_stay_in_their_process():
    traced = numhlo.jit(double).trace(np.ones(3), {"b": 1.0})
    for stage in (traced, traced.lower(), traced.lower().compile()):
        assert copy.deepcopy({"stage": stage})["stage"] is stage
        with pytest.raises(UnsupportedError, match=r"pickling of <.*\n  at test_stages.py.*\n.*pickle numhlo.export"):
            pickle.dumps([stage])


def test_programs_can_be_pickled():
    exported = numhlo.export(double, np.ones(3), {"b": 1.0}, n=4)
    again = pickle.loads(pickle.dumps(exported))
    assert again(np.arange(3.0), {"b": 1.0}, n=4)["y"].tolist() == [1.0, 5.0, 9.0]
    assert copy.deepcopy(exported) is exported and copy.deepcopy(exported.module) is exported.module
    assert pickle.loads(pickle.dumps(exported.module)).as_text() == exported.as_text()


def test_results_beyond_memory_are_named():
    with pytest.raises(OutOfMemoryError) as error:
        numhlo.jit(lambda x: (x + 1.0, np.zeros((2**22, 2**22)) + x))(1.0)
    assert re.fullmatch(
        r"lambda: no memory for its results float64\[4194304,4194304\] \(128 TiB\), float64\[\] \(8 bytes\)\n"
        r"  at test_stages.py:.*\n  work on parts of the arrays", str(error.value),
    )  # fmt: skip
    with pytest.raises(OutOfMemoryError, match="no memory for its intermediate values"):
        numhlo.jit(lambda x: np.outer(np.sort(np.zeros(2**20) + x), np.zeros(2**20) + x).cumsum(axis=0)[3])(1.0)
