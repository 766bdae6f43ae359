"""Handlers compiled against XLA's header, run by numhlo as XLA runs them: the same file is given to both."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.native_errors import NativeCallError
from tests.library.test_custom_calls import every_way

jax = pytest.importorskip("jax")
COMPILER = shutil.which("g++") or shutil.which("clang++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")

SOURCE = Path(__file__).parent / "native" / "typed_handlers.cc"
COUNT = numhlo.ShapeDtypeStruct((), np.int64)
OPTIONS = {"scale": 2.0, "offsets": np.array([1, 2]), "mode": "plain", "negate": True}
NARROW = {"single": np.float32(0.5), "narrow": np.int32(-1)}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    built = tmp_path_factory.mktemp("handlers") / "handlers.so"
    command = [COMPILER, "-std=c++17", "-O0", "-w", "-shared", "-fPIC", f"-I{jax.ffi.include_dir()}"]
    subprocess.run([*command, str(SOURCE), "-o", str(built)], check=True)
    loaded = ctypes.CDLL(str(built))
    loaded.CounterId.restype = ctypes.c_void_p
    return loaded


@pytest.fixture(scope="module")
def affine(library):
    described = lambda x, **options: (x, numhlo.ShapeDtypeStruct((), x.dtype))
    return numhlo.custom_call("typed.affine", jax.ffi.pycapsule(library.AffineHandler), result=described)


@pytest.fixture(scope="module")
def describe(library):
    result = numhlo.ShapeDtypeStruct((7,), np.int64)
    return numhlo.custom_call("typed.describe", library.DescribeHandler, api_version=4, result=result)


@pytest.fixture(scope="module")
def later(library):
    return numhlo.custom_call("typed.later", jax.ffi.pycapsule(library.LaterHandler), result=lambda x, fails: x)


def by_xla(name, handler, result, options, *arrays):
    """Return what XLA makes of the same handler."""
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(handler), platform="cpu")
    with jax.enable_x64(True):
        call = jax.jit(lambda *xs: jax.ffi.ffi_call(name, result)(*xs, **options))
        return [np.asarray(x) for x in jax.tree.leaves(call(*arrays))]


@pytest.mark.specifies("native custom calls")
def test_options_and_results(affine, library, rng):
    x = rng.normal(size=(2, 3))
    result = (jax.ShapeDtypeStruct((2, 3), np.float64), jax.ShapeDtypeStruct((), np.float64))
    expected = by_xla("typed.affine", library.AffineHandler, result, OPTIONS | NARROW, x)
    for found in every_way(lambda x: affine(x, **OPTIONS, **NARROW), x):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    f = numhlo.jit(lambda x: affine(np.sin(x), **OPTIONS, **NARROW)[0] + 1)
    for size in (3, 3, 5, 0):
        x = rng.normal(size=size)
        f(x)
        f.wait()
        np.testing.assert_array_equal(f(x), -(2 * np.sin(x) + 2.5) + 1)
    assert "in Python" not in f.explain() and "on NumPy" not in f.explain()


def test_types_and_dimensions(describe, library):
    arrays = np.zeros((2, 3), np.uint8), np.zeros((4, 1, 5), bool)
    options = {"inner": {"factor": 10}}
    result = jax.ShapeDtypeStruct((7,), np.int64)
    (expected,) = by_xla("typed.describe", library.DescribeHandler, result, options, *arrays)
    assert expected.tolist() == [60, 20, 30, 10, 40, 10, 50]
    for found in every_way(lambda x, y: describe(x, y, **options), *arrays):
        np.testing.assert_array_equal(found, expected)


def test_what_handlers_refuse(affine, describe, library):
    f = numhlo.jit(lambda x, mode: affine(x, **(OPTIONS | {"mode": mode}), **NARROW), static_argnames="mode")
    f(np.ones(2), mode="plain")
    f.wait()
    for call in (f, lambda x, mode: affine(x, **(OPTIONS | {"mode": mode}), **NARROW)):
        with pytest.raises(NativeCallError) as caught:
            call(np.ones(2), mode="wrong")
        assert str(caught.value).startswith("custom_call typed.affine: mode must be plain, not wrong\n")
        assert "it failed with INVALID_ARGUMENT" in str(caught.value)
    compiled = numhlo.jit(lambda x: describe(x, inner={"factor": 1.5})).lower(np.ones(2)).compile()
    for _ in range(2):
        with pytest.raises(NativeCallError, match="expected S64 but got F64"):
            compiled(np.ones(2))
    more = numhlo.custom_call("typed.affine.more", library.AffineHandler, api_version=4, result=lambda x, y: (x, y))
    with pytest.raises(NativeCallError, match="Wrong number of arguments"):
        numhlo.jit(more)(np.ones(2), np.ones(2))


def test_state_and_stages(library):
    handlers = {
        "instantiate": jax.ffi.pycapsule(library.CountBegin),
        "prepare": jax.ffi.pycapsule(library.CountPrepare),
        "execute": jax.ffi.pycapsule(library.CountExecute),
    }
    count = numhlo.custom_call(
        "typed.count",
        handlers,
        result=(COUNT, COUNT),
        has_side_effect=True,
        types={"typed.Counter": jax.ffi.pycapsule(library.CounterId())},
    )
    f = numhlo.jit(lambda: count(first=40))
    found = [tuple(map(int, f()))]
    f.wait()
    found += [tuple(map(int, f())) for _ in range(3)]
    assert found == [(40, 1), (41, 2), (42, 3), (43, 4)]
    loop = numhlo.jit(lambda: lax.fori_loop(0, 5, lambda _, n: n + count(first=100)[0], 0))
    loop()
    loop.wait()
    assert loop() == sum(range(105, 110))
    with pytest.raises(NativeCallError, match="counting begins at 0"):
        numhlo.jit(lambda: count(first=-1))()


def test_memory_tasks_and_futures(later, rng):
    x = (rng.normal(size=5) + 1j * rng.normal(size=5)).astype(np.complex64)
    for found in every_way(lambda x: later(x, fails=False), x):
        np.testing.assert_array_equal(found, x.conj()[::-1])
    f = numhlo.jit(lambda x: later(x * 2, fails=True))
    for _ in range(2):
        with pytest.raises(NativeCallError, match=r"typed\.later: too late\n(.*\n)?  it failed with UNAVAILABLE"):
            f(x)
        f.wait()


def test_batched_and_differentiated(library, rng):
    halved = {**OPTIONS, **NARROW, "scale": 0.5}
    call = numhlo.custom_call(
        "typed.affine.rules",
        library.AffineHandler,
        api_version=4,
        result=lambda x, **options: (x, numhlo.ShapeDtypeStruct((), x.dtype)),
        jvp=lambda primals, tangents, results, **o: (-o["scale"] * tangents[0], tangents[0].sum()),
    )
    x = rng.normal(size=(3, 4))
    loss = lambda x: (call(x, **halved)[0] ** 2).sum()
    for found in every_way(numhlo.vmap(numhlo.grad(loss)), x):
        np.testing.assert_allclose(found, 0.5 * x + 2.5, rtol=1e-12)


def test_results_in_the_memory_of_operands(library, rng):
    described = lambda x, **options: (x, numhlo.ShapeDtypeStruct((), x.dtype))
    handler = jax.ffi.pycapsule(library.AffineHandler)
    call = numhlo.custom_call("typed.in_place", handler, result=described, input_output_aliases={0: 0})
    x = rng.normal(size=(2, 3))
    for found, total in every_way(lambda x: call(x + 1, **OPTIONS, **NARROW), x):
        np.testing.assert_array_equal(found, -(2 * (x + 1) + 2.5))
        np.testing.assert_allclose(total, (x + 1).sum(), rtol=1e-14)


def test_bad_handlers(library):
    with pytest.raises(ArgumentError, match="handlers for the stages 'begin', 'execute'"):
        numhlo.custom_call("typed.bad", {"begin": library.CountBegin, "execute": library.CountExecute}, result=COUNT)
    with pytest.raises(ArgumentError, match="handlers for the stages 'instantiate', 'execute'"):
        numhlo.custom_call("typed.bad", {"instantiate": library.CountBegin}, result=COUNT)
    with pytest.raises(ArgumentError, match=r"the type T is given by 3"):
        numhlo.custom_call("typed.bad", library.CountExecute, api_version=4, result=COUNT, types={"T": 3})
    handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

    @handler
    def of_another_version(frame):
        extension = ctypes.c_int64.from_address(frame + 8).value
        if extension:
            metadata = ctypes.c_int64.from_address(extension + 24).value
            ctypes.c_int32.from_address(metadata + 24).value = 7
        return 0

    with pytest.raises(UnsupportedError, match="its handler is for version 7 of XLA's interface"):
        numhlo.custom_call("typed.bad", of_another_version, api_version=4, result=COUNT)


def test_options_that_have_no_form(affine):
    with pytest.raises(UnsupportedError, match=r"typed\.affine: the option offsets, \('a', 1\)"):
        affine(np.ones(2), **(OPTIONS | NARROW | {"offsets": ("a", 1)}))


def test_layouts_are_those_of_xla(affine, library, rng):
    """What XLA is asked for in text, numhlo reads from that text."""
    x = rng.normal(size=(2, 3))
    jax.ffi.register_ffi_target("typed.affine", jax.ffi.pycapsule(library.AffineHandler), platform="cpu")
    with jax.enable_x64(True):
        result = jax.ShapeDtypeStruct((2, 3), np.float64), jax.ShapeDtypeStruct((), np.float64)
        call = jax.ffi.ffi_call("typed.affine", result, input_layouts=[(1, 0)], output_layouts=[(0, 1), ()])
        lowered = jax.jit(lambda x: call(x * 2, **OPTIONS, **NARROW)[0]).lower(x)
        expected = np.asarray(lowered.compile()(x))
    np.testing.assert_array_equal(expected, -(2 * (2 * x).T.reshape(2, 3) + 2.5))
    module = numhlo.stablehlo.parse(lowered.as_text())
    assert "operand_layouts = [dense<[0, 1]>" in module.as_text()
    f = module.callable()
    for _ in range(2):
        np.testing.assert_array_equal(f(x), expected)
        next(iter(f.programs.values())).wait()
    np.testing.assert_array_equal(f.interpret(x)[0], expected)
    options = {"api_version": 4, "operand_layouts": [(0, 1)], "result": numhlo.ShapeDtypeStruct((3,), np.int64)}
    g = numhlo.custom_call("typed.describe.columns", library.DescribeHandler, **options)
    for found in every_way(lambda x: g(x, inner={"factor": 1}), x):
        assert found.tolist() == [12, 2, 3]
