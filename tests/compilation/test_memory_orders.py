"""Layouts of arguments and results: through jit, in text, in HLO; values are as ever, and memory is as asked for."""

import pickle

import numpy as np
import pytest

import numhlo
from numhlo import Layout, stablehlo
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError, VerificationError
from tests.lowering.hlo.judges import printed_by_xla, read_by_xla

COLUMNS = Layout((0, 1))


def columns(x):
    return np.asfortranarray(x)


def every_call(f, *args):
    """Yield what a function gives at first and as machine code, for arguments in both orders."""
    for lie in (np.ascontiguousarray, np.asfortranarray):
        given = [lie(x) for x in args]
        yield f(*given)
        f.wait()
        yield f(*given)
        for one, other in zip(args, given, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.specifies("requested layouts")
def test_results_of_jitted_functions(rng):
    x, w = rng.normal(size=(5, 3)), rng.normal(size=(3, 4))
    f = numhlo.jit(
        lambda x, w: (np.sin(x), x @ w, x.sum(axis=0)), in_layouts=[COLUMNS], out_layouts=(COLUMNS, COLUMNS, None)
    )
    for sine, product, total in every_call(f, x, w):
        np.testing.assert_allclose(sine, np.sin(x), rtol=1e-15)
        np.testing.assert_allclose(product, x @ w, rtol=1e-13)
        np.testing.assert_allclose(total, x.sum(axis=0), rtol=1e-13)
        assert COLUMNS.matches(sine) and COLUMNS.matches(product)
        assert type(sine) is numhlo.Array
    with numhlo.debugging(engine="interpreter"):
        assert COLUMNS.matches(f(x, w)[0])


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0)])
def test_every_order(order, rng):
    layout, x = Layout(order), rng.normal(size=(2, 3, 4))
    f = numhlo.jit(lambda x: x * 2 + 1, in_layouts=[layout], out_layouts=layout)
    for found in every_call(f, layout.lay_out(x)):
        np.testing.assert_array_equal(found, x * 2 + 1)
        assert layout.matches(found) and found.strides == layout.strides(x.shape, 8)


def test_arguments_that_lie_so_are_not_copied(rng):
    x = columns(rng.normal(size=(3, 4)))

    @numhlo.jit
    def plain(x):
        return x + 1

    f = numhlo.jit(lambda x: x + 1, in_layouts=[COLUMNS], out_layouts=COLUMNS)
    f(x)
    f.wait()
    np.testing.assert_array_equal(f(x), plain(x))
    assert "kernels: 1 compiled" in f.explain().replace("from the disk cache", "compiled")
    assert "another order of memory" not in f.explain()  # the only kernel reads memory in order, and writes it so
    f = numhlo.jit(lambda x: np.tanh(np.exp(x) * 0.5 - x), in_layouts=[COLUMNS], out_layouts=COLUMNS)
    for found in every_call(f, x):
        np.testing.assert_allclose(found, np.tanh(np.exp(x) * 0.5 - x), rtol=1e-14)
    assert "another order of memory" not in f.explain()
    f = numhlo.jit(lambda x: x @ x.T, out_layouts=COLUMNS)
    for found in every_call(f, rng.normal(size=(40, 50))):
        assert COLUMNS.matches(found)
    assert "result 0 is copied into another order of memory: dot_general has its own" in f.explain()


def test_writing_into_arguments(rng):
    def fill(x):
        x[0] = 7.0
        return x.sum()

    for x in (columns(rng.normal(size=(3, 4))), rng.normal(size=(3, 4))):
        f, expected = numhlo.jit(fill, in_layouts=[COLUMNS]), x.copy()
        expected[0] = 7.0
        for _ in range(2):
            np.testing.assert_allclose(f(x), expected.sum(), rtol=1e-14)
            np.testing.assert_array_equal(x, expected)
            f.wait()


def test_with_control_flow_and_other_options(rng):
    @numhlo.jit(static_argnames="n", out_layouts=COLUMNS)
    def f(x, n):
        if x.sum() > 0:
            return x * n
        return -x

    x = np.abs(rng.normal(size=(2, 3)))
    for found, wanted in ((f(x, n=3), 3 * x), (f(-x, n=3), x), (f(x, n=2), 2 * x)):
        np.testing.assert_array_equal(found, wanted)
        assert COLUMNS.matches(found)


def test_in_traces_values_have_no_layouts(rng):
    x = rng.normal(size=(2, 3))
    f = numhlo.jit(lambda x: x.T @ x, in_layouts=[COLUMNS], out_layouts=COLUMNS)
    np.testing.assert_allclose(numhlo.jit(lambda x: f(x) * 2)(x), 2 * x.T @ x, rtol=1e-14)
    np.testing.assert_allclose(numhlo.grad(lambda x: f(x).sum())(x), 2 * x @ np.ones((3, 3)), rtol=1e-14)
    np.testing.assert_allclose(numhlo.vmap(f)(np.stack([x, -x])), [x.T @ x] * 2, rtol=1e-14)


def double(x):
    return x * 2


DOUBLE = numhlo.jit(double, out_layouts=COLUMNS)


def test_pickling():
    assert COLUMNS.matches(pickle.loads(pickle.dumps(DOUBLE))(np.ones((2, 3))))


TEXT = """
func.func public @main(%x: tensor<2x3xf64> {mhlo.layout_mode = "{0,1}"}, %y: tensor<2x3xf64> {mhlo.layout_mode = "default"})
    -> (tensor<2x3xf64> {mhlo.layout_mode = "{0,1}"}, tensor<3x2xf64>) {
  %0 = stablehlo.add %x, %y : tensor<2x3xf64>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf64>) -> tensor<3x2xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<3x2xf64>
}
"""


@pytest.mark.specifies("requested layouts")
def test_text(rng):
    x, y = rng.normal(size=(2, 2, 3))
    module = stablehlo.parse(TEXT)
    assert stablehlo.parse(module.as_text()).as_text() == module.as_text()
    f = module.callable()
    for given in (x, columns(x)):
        for _ in range(2):
            total, other = f(given, y)
            np.testing.assert_array_equal(total, x + y)
            np.testing.assert_array_equal(other, (x + y).T)
            assert COLUMNS.matches(total) and other.flags.c_contiguous
            next(iter(f.programs.values())).wait()
    np.testing.assert_array_equal(f.interpret(x, y)[0], x + y)
    np.testing.assert_array_equal(numhlo.jit(lambda x: f(x, x)[1])(x), 2 * x.T)


def test_open_extents_have_layouts(rng):
    module = stablehlo.parse(TEXT.replace("2x3", "?x3").replace("3x2", "3x?"))
    for n in (2, 5):
        x = rng.normal(size=(n, 3))
        total, _ = module.run("main", columns(x), x)
        np.testing.assert_array_equal(total, 2 * x)
        assert COLUMNS.matches(total)


def test_jitted_functions_say_their_layouts_in_text(rng):
    x = rng.normal(size=(2, 3))
    f = numhlo.jit(lambda x: np.sin(x), in_layouts=[COLUMNS], out_layouts=COLUMNS)
    lowered = f.lower(x)
    assert lowered.as_text().count('mhlo.layout_mode = "{0,1}"') == 2
    found = stablehlo.parse(lowered.as_text()).callable()(x)
    np.testing.assert_array_equal(found, f(x))
    assert COLUMNS.matches(found)
    with pytest.raises(UnsupportedError, match="compiling a lowered function with layouts"):
        lowered.compile()


def test_what_is_refused(rng):
    x = rng.normal(size=(2, 3))
    with pytest.raises(ArgumentError, match=r"the layout \{0,1\} of argument 0, which has 1 dimensions"):
        numhlo.jit(double, in_layouts=[COLUMNS])(x[0])
    with pytest.raises(ArgumentError, match=r"the layout \{0,1\} of the result, which has 0 dimensions"):
        numhlo.jit(lambda x: x.sum(), out_layouts=COLUMNS)(x)
    with pytest.raises(ArgumentError, match=r"out_layouts has 2 layouts, and the function returned \w+"):
        numhlo.jit(double, out_layouts=(COLUMNS, None))(x)
    with pytest.raises(ArgumentError, match=r"jit: in_layouts has \(0, 1\)"):
        numhlo.jit(double, in_layouts=[(0, 1)])
    with pytest.raises(ArgumentError, match="jit: out_layouts has 'F'"):
        numhlo.jit(double, out_layouts="F")
    with pytest.raises(UnsupportedError, match=r"the layout \{0,1:T\(8,128\)\}\n.*\n  tiles, memory spaces"):
        stablehlo.parse(TEXT.replace("{0,1}", "{0,1:T(8,128)}")).run("main", x, x)
    with pytest.raises(VerificationError, match=r"@main: the layout \{0\} of argument 0, which is a tensor<2x3xf64>"):
        stablehlo.parse(TEXT.replace("{0,1}", "{0}")).run("main", x, x)
    with pytest.raises(UnsupportedError, match=r"Layout: padded_dimensions=\(3, 5\)"):
        Layout((0, 1), padded_dimensions=(3, 5))
    with pytest.raises(UnsupportedError, match=r"Layout: tiles=\(\(8, 128\),\)"):
        Layout((0, 1), tiles=[(8, 128)])
    for wrong in [(0, 0), (1, 2), (0, "1")]:
        with pytest.raises(ArgumentError, match=r"Layout\("):
            Layout(wrong)
    with pytest.raises(UnsupportedError, match=r"the layout of an array of shape \[2, 2\] with strides"):
        Layout.of(x[:, ::2])


HLO = """HloModule lying, entry_computation_layout={(f64[2,3]{0,1}, f64[3,4]{1,0})->(f64[2,3]{0,1}, f64[2,4]{1,0})}

ENTRY main {
  x = f64[2,3]{0,1} parameter(0)
  w = f64[3,4]{1,0} parameter(1)
  s = f64[2,3]{0,1} sine(x)
  p = f64[2,4]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f64[2,3]{0,1}, f64[2,4]{1,0}) tuple(s, p)
}
"""


@pytest.mark.specifies("requested layouts")
@pytest.mark.parametrize("way", ["text", "written", "proto"])
def test_layouts_of_hlo(way, rng):
    module = stablehlo.from_hlo(HLO)
    if way == "written":
        assert "entry_computation_layout={(f64[2,3]{0,1}, f64[3,4]{1,0})->(f64[2,3]{0,1}" in module.as_hlo_text()
        module = stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
    if way == "proto":
        module = stablehlo.from_hlo(read_by_xla(module.as_hlo_text()).as_serialized_hlo_module_proto())
        assert stablehlo.from_hlo(module.as_hlo_proto()).as_text() == module.as_text()
    assert module.as_text().count('mhlo.layout_mode = "{0,1}"') == 2
    x, w = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
    for given in (x, columns(x)):
        sine, product = module.run("main", given, w)
        np.testing.assert_allclose(sine, np.sin(x), rtol=1e-15)
        np.testing.assert_allclose(product, x @ w, rtol=1e-14)
        assert COLUMNS.matches(sine) and product.flags.c_contiguous
        next(iter(module.functions["main"].programs.values())).wait()


def test_layouts_of_hlo_that_are_none():
    wrong = HLO.replace("f64[2,3]{0,1}, f64[3,4]{1,0})->", "f64[2,3]{0,1})->")
    with pytest.raises(numhlo.errors.ParseError, match="entry_computation_layout does not have the types of the entry"):
        stablehlo.from_hlo(wrong)
    tiled = HLO.replace("(f64[2,3]{0,1}, f64[3", "(f64[2,3]{0,1:T(8,128)}, f64[3", 1)
    assert "layout_mode" in stablehlo.from_hlo(tiled).as_text()  # tiles change where XLA puts elements, and no value
