"""Switches, stages, profiles and checks of derivatives under JAX's names."""

from __future__ import annotations

import re

import jax
import jax.ad_checkpoint
import jax.test_util
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.compat.jax.test_util import check_grads
from numhlo.lowering.ir.errors import ArgumentError, InvalidValueError, SignatureError, UnsupportedError
from numhlo.lowering.ir.scoped_values import unsettled

jnp = compat.numpy


@pytest.mark.parametrize("name", ["disable_jit", "debug_nans", "debug_infs", "log_compiles", "check_tracer_leaks"])
def test_switches(name):
    config = compat.config
    for value in (True, True, False, False):
        config.update(f"jax_{name}", value)
        assert config.read(f"jax_{name}") is value is config.values[f"jax_{name}"]
    assert not unsettled


def test_settings_that_change_nothing_are_kept():
    compat.config.update("jax_compilation_cache_dir", "somewhere")
    assert compat.config.jax_compilation_cache_dir == "somewhere"
    compat.config.update("jax_compilation_cache_dir", None)
    with pytest.raises(AttributeError, match="no setting 'jax_nonsense'"):
        _ = compat.config.jax_nonsense
    with compat.numpy_rank_promotion("allow"), compat.transfer_guard("disallow"):
        assert (jnp.ones((2, 3)) + jnp.ones(3)).shape == (2, 3)


@pytest.mark.parametrize(
    "make",
    [lambda: jnp.log(-1.0), lambda: jnp.zeros(2) / 0.0, lambda: -jnp.inf + jnp.full(2, jnp.inf), lambda: compat.jit(lambda x: jnp.log(x))(-1.0)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_nan_outside_jit(make):
    assert np.isnan(make()).any()
    compat.config.update("jax_debug_nans", True)
    try:
        with pytest.raises(InvalidValueError, match=r": nan .*\n  at test_looking_on.py:"):
            make()
        assert np.isnan(jnp.array([1.0, np.nan]) + 1).any()  # it was there before
    finally:
        compat.config.update("jax_debug_nans", False)
    with compat.debug_infs(), pytest.raises(FloatingPointError, match=r"divide: inf in a float64\[2\]"):
        jnp.ones(2) / jnp.zeros(2)


def test_stages():
    x = np.arange(4.0)
    lowered = compat.jit(lambda d: {"sum": d["x"].sum()}).lower({"x": x})
    assert lowered.as_text(dialect="stablehlo") == lowered.as_text() and lowered.compiler_ir() is lowered.module
    assert lowered.out_info["sum"].shape == () and lowered.in_tree.num_leaves == lowered.out_tree.num_leaves == 1
    compiled = lowered.compile()
    assert isinstance(compiled, compat.stages.Compiled) and type(compiled({"x": x})["sum"]) is compat.Array
    assert lowered.cost_analysis() == compiled.cost_analysis() and compiled.cost_analysis()["flops"] >= 3
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes) == (32, 8)
    assert memory.peak_memory_in_bytes >= 40 + memory.temp_size_in_bytes
    for wrong in ({"x": np.ones(5)}, {}):
        with pytest.raises(TypeError) as caught:
            compiled(wrong)
        assert isinstance(caught.value, SignatureError)
    with pytest.raises(
        ArgumentError, match=r"as_text\('hlo'\): unknown dialect\n.*\n  programs are StableHLO; leave it out"
    ):
        lowered.as_text("hlo")
    program = compat.make_jaxpr(lambda x: (x @ x, 2 * x))(x)
    assert [aval.shape for aval in program.in_avals + program.out_avals] == [(4,), (), (4,)]


def test_profiler():
    with compat.profiler.TraceAnnotation("a"), compat.profiler.StepTraceAnnotation("train", step_num=1):
        f = compat.profiler.annotate_function(compat.profiler.TraceAnnotation("b")(lambda: 2))
    assert f() == 2
    with pytest.raises(UnsupportedError, match=r"profiler.trace\n.*\n.*cost_analysis\(\), or cProfile"):
        compat.profiler.trace("somewhere")


def square_of_slope(lib, factor):
    @lib.custom_jvp
    def f(x):
        return x * x

    f.defjvp(lambda primals, tangents: (f(*primals), factor * primals[0] * tangents[0]))
    return f


def test_check_grads():
    tree = {"a": np.linspace(0.1, 1, 3), "b": (np.float32(0.5), np.array(1 + 2j))}
    check_grads(lambda t, k: jnp.sum(jnp.sin(t["a"]) * t["b"][0]) * k, ({"a": tree["a"], "b": tree["b"][:1]}, 2.0), 2)
    check_grads(lambda z: jnp.exp(z) * z, (tree["b"][1],), 1, modes=["fwd"])
    for lib, check in ((compat, check_grads), (jax, jax.test_util.check_grads)):
        check(square_of_slope(lib, 2.0), (np.float64(1.5),), order=2)
        for mode in ("fwd", "rev"):
            with pytest.raises(AssertionError, match=r"JVP tangent|VJP cotangent"):
                check(square_of_slope(lib, 2.1), (np.float64(1.5),), order=1, modes=[mode])


def test_types():
    assert isinstance(jnp.ones(2), compat.typing.ArrayLike) and not isinstance([1.0], compat.typing.ArrayLike)
    seen = []
    compat.jit(lambda x: seen.append(isinstance(x, compat.core.Tracer)) or x)(1.0)
    assert seen == [True] and compat.core.get_aval(np.ones(2)).shape == (2,)
    with pytest.raises(AttributeError, match="no attribute 'gensym'; variables of jaxprs"):
        _ = compat.core.gensym
    assert compat.dlpack.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]
    assert compat.custom_derivatives.custom_jvp is compat.custom_jvp
    assert {"pmap", "sharding", "jit"} <= set(dir(compat))


def keeping(lib):
    """Return functions, and what they are called with."""
    layer = lambda w, x: lib.numpy.sin(lib.ad_checkpoint.checkpoint_name(lib.numpy.sin(w @ x), "hidden"))
    dots, named = lib.checkpoint_policies.dots_saveable, lib.checkpoint_policies.save_only_these_names("hidden")
    w, x = np.ones((3, 3), np.float32), np.ones(3, np.float32)
    yield lambda w, x: layer(w, layer(w, x)), (w, x), {}
    yield lib.checkpoint(lambda w, x: layer(w, layer(w, x)), policy=dots), (w, x), {}
    yield lib.checkpoint(layer, policy=named), (w, x), {}
    yield lambda d, *, k: (lib.numpy.sin(d["a"]) * k * 2.0).sum(), ({"a": x},), {"k": x}


def test_saved_residuals_are_jaxs(capsys):
    """Their types, arguments and names; ops are StableHLO's, lines have no columns, constants may be elsewhere."""
    texts = []
    for lib in (jax, compat):
        for f, args, kwargs in keeping(lib):
            lib.ad_checkpoint.print_saved_residuals(f, *args, **kwargs)
        lines = capsys.readouterr().out.replace("float32", "f32").splitlines()
        arrays = [line for line in lines if "constant" not in line and "literal" not in line]
        texts.append(sorted(re.sub("output of .* from|(?<=from ).*test_looking_on.*", "", line) for line in arrays))
    assert texts[0] == texts[1] and len(texts[0]) > 10


def test_what_computes_at_once_and_what_waits():
    table = jnp.array([1.0, 2.0, 4.0])

    @compat.jit
    def f(x, k):
        with compat.ensure_compile_time_eval():
            known = jnp.sum(table)
            assert not isinstance(known, compat.core.Tracer) and float(known) == 7.0
            chosen = jnp.where(k > 1, jnp.sin(x), known)
            assert isinstance(chosen, compat.core.Tracer)
            read = table[k]
            same = chosen == read
        return chosen + read, same

    for x, k in ((0.5, 0), (1.5, 2), (0.25, 1)):
        value, same = f(x, k)
        wanted = (np.sin(x) if k > 1 else 7.0) + [1.0, 2.0, 4.0][k]
        np.testing.assert_allclose(value, wanted)
        assert not same


def test_shapes_of_shapes_and_of_arrays_around():
    @compat.jit
    def f(x):
        inside = compat.eval_shape(lambda: (x, compat.ShapeDtypeStruct((2,), np.int32, sharding=None)))
        assert [s.shape for s in inside] == [(3,), (2,)] and inside[1].dtype == np.int32
        assert inside[0].sharding is None and compat.typeof(x).update(shape=(4,)).shape == (4,)
        return x

    f(np.ones(3))


def test_branches_that_are_not_taken_call_nothing():
    calls = []

    def note(k):
        calls.append(int(k))
        return np.float64(k)

    @compat.jit
    def f(x):
        ask = lambda: compat.pure_callback(note, compat.ShapeDtypeStruct((), np.float64), np.array(3))
        return compat.lax.cond(x < 0, ask, lambda: x)

    assert [float(f(v)) for v in (1.0, 2.0)] == [1.0, 2.0] and calls == []
    assert float(f(-1.0)) == 3.0 and calls[:1] == [3]


def test_inlined_functions_get_arrays():
    inner = compat.jit(lambda x: compat.numpy.zeros((), x.dtype) + x, inline=True)
    assert float(compat.jit(lambda y: inner(2.0) * y)(3.0)) == 6.0


def test_numbers_among_residuals_stay_numbers():
    @compat.custom_vjp
    def f(x):
        return x * x

    def backward(kept, g):
        flag, factor, x = kept
        assert flag is True and type(factor) is float
        return (g * factor * x if flag else g,)

    f.defvjp(lambda x: (x * x, (True, 5.0, x)), backward)
    for v in (1.0, 2.0):
        assert float(compat.grad(f)(v)) == float(compat.jit(compat.grad(f))(v)) == 5 * v
    np.testing.assert_allclose(compat.vmap(compat.grad(f))(np.array([1.0, 3.0])), [5.0, 15.0])
    zero = compat.custom_derivatives.SymbolicZero(compat.core.ShapedArray((2,), np.float32))
    assert zero.shape == (2,) and zero == compat.custom_derivatives.SymbolicZero((2,), np.dtype("float32"))


def test_tracers_of_derivatives():
    from numhlo.compat.jax.interpreters import ad  # noqa: PLC0415 - it is loaded late

    seen = []

    def f(x):
        top = compat.extend.core.find_top_trace([x])
        values = [x, jnp.sin(x), compat.lax.stop_gradient(x), jnp.ones(3), jnp.argmax(x)]
        seen.append([isinstance(v, ad.JVPTracer) and v._trace.main is top.main for v in values])
        return jnp.sum(x)

    compat.jvp(f, (np.ones(2),), (np.ones(2),))
    assert seen == [[True, True, False, False, False]]
