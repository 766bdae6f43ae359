"""result_accuracy: results are as exact as it says, as machine code and interpreted, or the program is refused."""

import ml_dtypes
import mpmath
import numpy as np
import pytest

import numhlo
from numhlo import stablehlo
from numhlo.errors import UnsupportedError
from numhlo.lowering.ops.accuracy import is_met, requested
from tests.oracle import official_parse

FUNCTIONS = {
    "cbrt": mpmath.cbrt,
    "cosine": mpmath.cos,
    "exponential": mpmath.exp,
    "exponential_minus_one": mpmath.expm1,
    "log": mpmath.log,
    "log_plus_one": mpmath.log1p,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sine": mpmath.sin,
    "sqrt": mpmath.sqrt,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
}
HIGHEST = "mode = #stablehlo.result_accuracy_mode<HIGHEST>"


def tolerance(atol=0, rtol=0, ulps=0):
    named = {"atol": f"{atol:e}", "rtol": f"{rtol:e}", "ulps": ulps}
    fields = ", ".join(f"{name} = {value}" for name, value in named.items())
    return f"{fields}, mode = #stablehlo.result_accuracy_mode<TOLERANCE>"


def program(type, accuracies):
    """Return a program of functions and accuracies, all of one operand."""
    lines = [
        f'%r{k} = "stablehlo.{name}"(%x) <{{result_accuracy = #stablehlo.result_accuracy<{accuracy}>}}> : ({type}) -> {type}'
        for k, (name, accuracy) in enumerate(accuracies)
    ]
    names = ", ".join(f"%r{k}" for k in range(len(lines)))
    types = ", ".join([type] * len(lines))
    return f"func.func @main(%x: {type}) -> ({types}) {{\n{chr(10).join(lines)}\nreturn {names} : {types} }}"


def spacing(exact, digits, least):
    """Return a unit in the last place of a number with so many bits, those of subnormals at least."""
    return mpmath.ldexp(1, max(mpmath.frexp(abs(exact))[1] - digits, least))


@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("bf16", ml_dtypes.bfloat16)])
@pytest.mark.specifies("accuracy attributes")
def test_results_are_rounded_from_doubles(element, dtype, rng):
    finite = ml_dtypes.finfo(dtype)
    x = np.concatenate([rng.uniform(0.01, 9, 20), np.exp(rng.uniform(-5, 2, 19)), [np.nan]]).astype(dtype)
    accuracies = [(name, (HIGHEST, tolerance(ulps=1))[k % 2]) for k, name in enumerate(FUNCTIONS)]
    module = stablehlo.parse(program(f"tensor<40x{element}>", accuracies))
    with numhlo.debugging(tier0=False):
        runs = [module.run("main", x), module.interpret("main", x), module.run("main", x)]
    for results in runs:
        for (name, _), found in zip(accuracies, results, strict=True):
            assert found.dtype == dtype and np.isnan(found[-1].astype(np.float32)), name
            for given, got in zip(x[:-1].astype(float), np.asarray(found[:-1]).astype(float), strict=True):
                with mpmath.workdps(40):
                    exact = FUNCTIONS[name](mpmath.mpf(given))
                    unit = spacing(exact, int(finite.nmant) + 1, int(finite.minexp) - int(finite.nmant))
                    if abs(exact) < float(finite.max):
                        assert abs(got - exact) <= 0.51 * unit, (name, given)


def test_doubles_are_within_four_units(rng):
    x = rng.uniform(0.01, 9, 20)
    accuracies = [(name, (HIGHEST, tolerance(ulps=4))[k % 2]) for k, name in enumerate(FUNCTIONS)]
    module = stablehlo.parse(program("tensor<20xf64>", accuracies))
    with numhlo.debugging(tier0=False):
        runs = [module.run("main", x), module.interpret("main", x)]
    for results in runs:
        for (name, _), found in zip(accuracies, results, strict=True):
            for given, got in zip(x, found, strict=True):
                with mpmath.workdps(40):
                    exact = FUNCTIONS[name](mpmath.mpf(float(given)))
                    assert abs(float(got) - exact) <= 4 * spacing(exact, 53, -1074), (name, given)


def test_complex_numbers_are_rounded_from_wider_ones(rng):
    x = (rng.normal(size=20) + 1j * rng.normal(size=20)).astype(np.complex64)
    names = ["exponential", "log", "sine", "sqrt", "tanh"]
    module = stablehlo.parse(program("tensor<20xcomplex<f32>>", [(name, HIGHEST) for name in names]))
    wanted = [np.exp, np.log, np.sin, np.sqrt, np.tanh]
    for found, function in zip(module.run("main", x), wanted, strict=True):
        np.testing.assert_allclose(found, function(x.astype(np.complex128)), rtol=1.2e-7)


REFUSED = [
    ("f32", "exponential", tolerance(), "within 0.51 ulps"),
    ("f32", "exponential", tolerance(atol=1), "within 0.51 ulps"),
    ("f32", "tanh", tolerance(atol=1e-9, rtol=1e-9), "within 0.51 ulps"),
    ("f64", "log", tolerance(ulps=3), "within 4 ulps"),
    ("f64", "sine", tolerance(rtol=1e-17), "within 4 ulps"),
    ("complex<f32>", "sine", tolerance(ulps=5), "complex functions have no bound"),
]
MET = [
    ("f32", "exponential", tolerance(rtol=1e-7)),
    ("f32", "tanh", tolerance(atol=1e-7)),
    ("f64", "sine", tolerance(atol=1e-15)),
    ("f64", "sqrt", tolerance(ulps=1)),
]


@pytest.mark.parametrize(("element", "name", "accuracy", "why"), REFUSED)
def test_what_cannot_be_promised_is_refused(element, name, accuracy, why):
    module = stablehlo.parse(program(f"tensor<2x{element}>", [(name, accuracy)]))
    module.verify(strict=True)
    x = np.ones(2, {"f32": np.float32, "f64": np.float64}.get(element, np.complex64))
    for run in (module.run, module.interpret):
        with pytest.raises(UnsupportedError, match=rf"^{name} of \w+ with result_accuracy of .*\n.*\n  .*{why}"):
            run("main", x)


@pytest.mark.parametrize(("element", "name", "accuracy"), MET)
def test_one_of_the_tolerances_suffices(element, name, accuracy):
    digits = 24 if element == "f32" else 53
    dtype = np.dtype(np.float32 if element == "f32" else np.float64)
    assert is_met(name, dtype, requested(f"#stablehlo.result_accuracy<{accuracy}>"), digits)


def test_accuracies_are_kept_in_text_and_have_derivatives():
    text = program("tensor<f32>", [("tanh", HIGHEST)])
    module = stablehlo.parse(text)
    for generic in (False, True):
        printed = module.as_text(generic=generic)
        assert HIGHEST in printed and HIGHEST in official_parse(printed)
    slope = numhlo.grad(module.callable("main"))(np.float32(0.5))
    np.testing.assert_allclose(slope, 1 - np.tanh(0.5) ** 2, rtol=1e-6)
