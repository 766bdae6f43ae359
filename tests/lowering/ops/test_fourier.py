"""fft: constraints, values against the sum that defines it, and XLA."""

import numpy as np
import pytest

from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops.fourier import FFT
from tests.lowering.ops.evaluation import evaluate, infer, rejection, tensor
from tests.oracle import run_on_xla


def transform(kind, *length):
    return {"fft_type": kind, "fft_length": length}


def test_fft_constraints():
    z, x = tensor("2x4x6xcomplex<f32>"), tensor("2x4x6xf32")
    assert infer(FFT, z, **transform("FFT", 4, 6)) == z
    assert infer(FFT, x, **transform("RFFT", 6)) == tensor("2x4x4xcomplex<f32>")
    assert infer(FFT, z, **transform("IRFFT", 4, 10)) == tensor("2x4x10xf32")
    assert infer(FFT, tensor("2x4x0xf64"), **transform("RFFT", 0)) == tensor("2x4x0xcomplex<f64>")
    assert "(C1)" in rejection(FFT, tensor("4xcomplex<f32>"), **transform("FFT", 2, 4))
    assert "(C2)" in rejection(FFT, x, **transform("FFT", 6))
    assert "(C2)" in rejection(FFT, z, **transform("RFFT", 6))
    assert "(C2)" in rejection(FFT, tensor("4xbf16"), **transform("RFFT", 4))
    assert "(C3)" in rejection(FFT, z, **transform("FFT"))
    assert "(C4)" in rejection(FFT, x, **transform("RFFT", 5))
    assert "(C5)" in rejection(FFT, z, **transform("IRFFT", 9))
    assert "(C5)" in rejection(FFT, z, result=tensor("2x4x5xcomplex<f32>"), **transform("FFT", 6))
    assert "(I2)" in rejection(FFT, z, **transform("DCT", 6))


def defining_sum(x, axis, sign):
    n = x.shape[axis]
    k = np.arange(n)
    matrix = np.exp(sign * 2j * np.pi * np.outer(k, k) / n)
    return np.moveaxis(np.moveaxis(x, axis, -1) @ matrix, -1, axis)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.specifies("fft, fourier transforms")
def test_against_the_definition_and_xla(dtype, rng):
    shape = (2, 3, 4, 5)
    z = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    x = z.real.copy()
    room = {"rtol": 0, "atol": 1e-4 if dtype == "complex64" else 1e-12}
    cases, lines = [], []
    for count in (1, 2, 3):
        length = shape[-count:]
        full = wide = z.astype(complex)
        for axis in range(-count, 0):
            full, wide = defining_sum(full, axis, -1), defining_sum(wide, axis, 1) / shape[axis]
        real = x.astype(complex)
        for axis in range(-count, 0):
            real = defining_sum(real, axis, -1)
        half = real[..., : shape[-1] // 2 + 1].astype(dtype)
        odd = (*length[:-1], 5)
        for kind, source, name, lengths, expected in (
            ("FFT", z, "z", length, full),
            ("IFFT", z, "z", length, wide),
            ("RFFT", x, "x", length, half),
            ("IRFFT", half, f"h{count}", odd, x),
        ):
            found = evaluate(FFT, source, **transform(kind, *lengths))
            np.testing.assert_allclose(found, expected, **room)
            types = tensor_type_of(source), tensor_type_of(found)
            lines.append(
                f"%{len(cases)} = stablehlo.fft %{name}, type = {kind}, length = {list(lengths)} : "
                f"({types[0]}) -> {types[1]}"
            )
            cases.append((name, source, types[1], found))
    arguments = {name: source for name, source, _, _ in cases}
    header = ", ".join(f"%{name}: {tensor_type_of(source)}" for name, source in arguments.items())
    types = ", ".join(str(kind) for _, _, kind, _ in cases)
    names = ", ".join(f"%{k}" for k in range(len(cases)))
    text = f"func.func @main({header}) -> ({types}) {{\n" + "\n".join(lines) + f"\nreturn {names} : {types}\n}}"
    for on_xla, (*_, found) in zip(run_on_xla(text, list(arguments.values())), cases, strict=True):
        np.testing.assert_allclose(found, on_xla, **room)


def test_nothing_to_transform():
    assert evaluate(FFT, np.zeros((2, 0)), **transform("RFFT", 0)).shape == (2, 0)
    assert evaluate(FFT, np.zeros((0, 4), complex), **transform("FFT", 4)).shape == (0, 4)
    assert evaluate(FFT, np.zeros((0, 3), complex), **transform("IRFFT", 4)).shape == (0, 4)
