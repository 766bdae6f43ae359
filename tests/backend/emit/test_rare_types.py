"""Ops on types that few programs have, as machine code: numbers of 2 and 4 bits, complex ones, random bits of any kind."""

import ml_dtypes
import numpy as np
import pytest

import numhlo
from numhlo import stablehlo
from numhlo.lowering.ir.types import ELEMENT_TYPES

NARROW = {"i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4}
ON_BITS = ["shift_left", "shift_right_logical", "shift_right_arithmetic", "count_leading_zeros", "popcnt"]
PARTS = np.array([0.0, -0.0, 1.0, -2.0, 0.5, np.inf, -np.inf, np.nan])
LIMITS = np.stack(np.broadcast_arrays(PARTS[:, None], PARTS), -1).reshape(-1).view(np.complex128)


def compiled(text, *arguments):
    """Return results of machine code, which must be what the interpreter returns, for these arguments and others."""
    module = stablehlo.parse(text)
    steps = numhlo.jit(module.callable("main")).lower(*arguments[0]).compile()
    for given in arguments:
        with np.errstate(all="ignore"):
            wanted = module.interpret("main", *given)
        for _ in range(2):
            found = steps(*given)
            yield list(zip(found if isinstance(found, tuple) else (found,), wanted, strict=True))


def program(operands, lines, type):
    names = ", ".join(f"%r{k}" for k in range(len(lines)))
    types = ", ".join([type] * len(lines))
    given = ", ".join(f"%{name}: {of}" for name, of in operands.items())
    body = "\n".join(f"  %r{k} = {line}" for k, line in enumerate(lines))
    return f"func.func @main({given}) -> ({types}) {{\n{body}\n  return {names} : {types} }}"


@pytest.mark.parametrize("element", NARROW)
@pytest.mark.specifies("integers of 2 and 4 bits")
def test_bits_of_narrow_integers(element):
    info = ml_dtypes.iinfo(NARROW[element])
    every = np.arange(int(info.min), int(info.max) + 1).astype(NARROW[element])
    x, y = np.repeat(every, every.size), np.tile(every, every.size)
    type = f"tensor<{x.size}x{element}>"
    lines = [f"stablehlo.{name} %x{', %y' if k < 3 else ''} : {type}" for k, name in enumerate(ON_BITS)]
    for pairs in compiled(program({"x": type, "y": type}, lines, type), (x, y), (y, x)):
        for name, (found, wanted) in zip(ON_BITS, pairs, strict=True):
            np.testing.assert_array_equal(np.asarray(found).astype(int), np.asarray(wanted).astype(int), name)


@pytest.mark.parametrize("element", NARROW)
def test_narrow_integers_of_the_other_sign(element):
    other = element.removeprefix("u") if element[0] == "u" else f"u{element}"
    every = np.arange(2 ** int(element[-1])).astype(NARROW[element])
    given, result = (f"tensor<{every.size}x{kind}>" for kind in (element, other))
    lines = [f"stablehlo.bitcast_convert %x : ({given}) -> {result}"]
    for ((found, wanted),) in compiled(program({"x": given}, lines, result), (every,), (every[::-1],)):
        assert found.dtype == NARROW[other]
        np.testing.assert_array_equal(np.asarray(found).astype(int), np.asarray(wanted).astype(int))


@pytest.mark.parametrize(("wide", "narrow"), [("f64", "i16"), ("i32", "f16")])
@pytest.mark.specifies("bitcast_convert")
def test_bits_of_other_widths(wide, narrow, rng):
    whole, part = ELEMENT_TYPES[wide], ELEMENT_TYPES[narrow]
    count = whole.itemsize // part.itemsize
    types = [f"tensor<3x5x{wide}>", f"tensor<3x5x{count}x{narrow}>"]
    data = [rng.integers(0, 256, 15 * whole.itemsize, dtype=np.uint8) for _ in range(2)]
    for (given, result), shape in ((types, (3, 5)), (types[::-1], (3, 5, count))):
        arrays = [(x.view(whole if shape == (3, 5) else part).reshape(shape),) for x in data]
        text = program({"x": given}, [f"stablehlo.bitcast_convert %x : ({given}) -> {result}"], result)
        assert "NumPy" not in numhlo.jit(stablehlo.parse(text).callable("main")).lower(*arrays[0]).compile().explain()
        for number, ((found, wanted),) in enumerate(compiled(text, *arrays)):
            assert found.shape == wanted.shape
            assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes() == data[number // 2].tobytes()


@pytest.mark.parametrize(("element", "dtype"), [("complex<f64>", np.complex128), ("complex<f32>", np.complex64)])
@pytest.mark.specifies("complex types")
def test_order_of_complex_numbers(element, dtype):
    x, y = np.repeat(LIMITS, LIMITS.size).astype(dtype), np.tile(LIMITS, LIMITS.size).astype(dtype)
    type = f"tensor<{x.size}x{element}>"
    directions = ["EQ", "NE", "LT", "LE", "GT", "GE"]
    results = f"tensor<{x.size}xi1>"
    lines = [f"stablehlo.compare {name}, %x, %y : ({type}, {type}) -> {results}" for name in directions]
    for pairs in compiled(program({"x": type, "y": type}, lines, results), (x, y), (y, x)):
        for name, (found, wanted) in zip(directions, pairs, strict=True):
            np.testing.assert_array_equal(found, wanted, name)


def test_complex_numbers_are_sorted(rng):
    type, one = "tensor<50xcomplex<f64>>", "tensor<complex<f64>>"
    less = f"%p = stablehlo.compare LT, %a, %b : ({one}, {one}) -> tensor<i1> stablehlo.return %p : tensor<i1>"
    line = (
        f'"stablehlo.sort"(%x) ({{ ^bb0(%a: {one}, %b: {one}): {less} }}) {{dimension = 0 : i64}} : ({type}) -> {type}'
    )
    arrays = [np.round(rng.normal(size=50) + 1j * rng.normal(size=50), 1) for _ in range(2)]
    for number, ((found, _),) in enumerate(compiled(program({"x": type}, [line], type), *[(x,) for x in arrays])):
        np.testing.assert_array_equal(found, np.sort(arrays[number // 2]))


def test_functions_of_complex_numbers(rng):
    ordinary = (rng.normal(size=64) + 1j * rng.normal(size=64)) * np.exp(rng.uniform(-3, 3, 64))
    type = "tensor<64xcomplex<f64>>"
    names = ["cbrt", "logistic", "rsqrt"]
    lines = [f"stablehlo.{name} %x : {type}" for name in names]
    given = [(x,) for x in (ordinary, LIMITS, ordinary[::-1])]
    for pairs in compiled(program({"x": type}, lines, type), *given):
        for name, (found, wanted) in zip(names, pairs, strict=True):
            for part in ("real", "imag"):
                left, right = getattr(np.asarray(found), part), getattr(np.asarray(wanted), part)
                np.testing.assert_allclose(left, right, 3e-15, 1e-15, err_msg=name)


@pytest.mark.parametrize(("algorithm", "words"), [("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3)])
@pytest.mark.specifies("rng_bit_generator")
def test_random_bits_of_every_kind(algorithm, words):
    state = f"tensor<{words}xui64>"
    types = ["tensor<5xi4>", "tensor<3x3xui2>", "tensor<7xi8>", "tensor<ui16>", "tensor<5xf32>", "tensor<3x5xui64>"]
    lines = "\n".join(
        f"%{k}:2 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : ({state}) -> ({state}, {type})"
        for k, type in enumerate(types)
    )
    names = ", ".join(f"%{k}#0, %{k}#1" for k in range(len(types)))
    results = ", ".join(f"{state}, {type}" for type in types)
    text = f"func.func @main(%s: {state}) -> ({results}) {{ {lines} return {names} : {results} }}"
    states = [(np.array([2**63 + 5, 2**64 - 1, 7][:words], np.uint64),), (np.arange(words, dtype=np.uint64),)]
    assert "NumPy" not in numhlo.jit(stablehlo.parse(text).callable("main")).lower(*states[0]).compile().explain()
    for pairs in compiled(text, *states):
        for found, wanted in pairs:
            seen = [np.asarray(x).astype(x.dtype if x.dtype.kind != "V" else int) for x in (found, wanted)]
            assert seen[0].tobytes() == seen[1].tobytes()
