"""Programs from outside: JAX's exports run as on XLA, differentiate as in JAX, vectorize; arguments and files."""

import re
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import numhlo
from numhlo import stablehlo
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError, VerificationError
from tests.oracle import official_parse, run_on_xla

X = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
DOUBLE = """module @doubling {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func public @pair(%x: tensor<f64>, %n: tensor<i8>) -> (tensor<f64>, tensor<i8>) {
    return %x, %n : tensor<f64>, tensor<i8>
  }
}
"""


def mlp(x, w, b, v):
    return (jnp.tanh(x @ w + b) @ v).sum()


def recur(x, w):
    def step(carry, row):
        carry = jnp.sin(carry * w + row)
        return carry, carry.sum()

    last, sums = lax.scan(step, jnp.zeros(4), x)
    return (last * sums.sum()).sum()


def loop(x):
    return lax.fori_loop(0, 5, lambda i, y: y * jnp.cos(y) + i, x).sum()


def rank(x):
    values, places = lax.top_k(x, 2)
    return (jnp.sort(x, 0) * jnp.arange(3.0)[:, None]).sum() + (values * places).sum()


def shuffle(x):
    return (x[jnp.array([2, 0, 2]), jnp.array([1, 1, 3])] ** 2).sum() + (x.at[1].add(x[0] * 3) ** 2).sum()


def choose(x):
    return lax.cond(x[0, 0] < 0, jnp.sin, jnp.cos, x).sum() + jnp.where(x > 0, x**3, -x).sum()


def special(x):
    return (lax.erf(x) + jnp.sinh(x) + lax.lgamma(x + 3) + lax.asin(x * 0.5) + lax.square(x)).sum()


PROGRAMS = {
    "mlp": (mlp, X, np.linspace(-1, 1, 8).reshape(4, 2), np.array([0.1, -0.2]), np.array([[1.0], [2.0]])),
    "scan": (recur, X, np.array([0.5, 1.0, -1.0, 2.0])),
    "loop": (loop, X),
    "sort and top_k": (rank, X[::-1] ** 3),
    "gather and scatter": (shuffle, X),
    "branches": (choose, X),
    "special functions": (special, X),
}


@pytest.fixture(params=PROGRAMS)
def program(request):
    function, *arrays = PROGRAMS[request.param]
    return function, arrays, stablehlo.parse(jax.jit(function).lower(*arrays).as_text(), request.param)


@pytest.mark.specifies("functions and calls")
def test_runs_as_on_xla(program):
    _, arrays, module = program
    expected = run_on_xla(module.as_text(), arrays)
    for results in (module.run("main", *arrays), module.interpret("main", *arrays)):
        assert isinstance(results, tuple) and all(type(r) is numhlo.Array for r in results)
        for found, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(module.callable()(*arrays), expected[0], rtol=1e-12)


@pytest.mark.slow
def test_differentiates_as_in_jax(program):
    function, arrays, module = program
    argnums = tuple(range(len(arrays)))
    expected = jax.grad(function, argnums)(*arrays)
    called = module.callable()
    for slope in (numhlo.grad(called, argnums), numhlo.jit(numhlo.grad(called, argnums))):
        for found, wanted in zip(slope(*arrays), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_vectorizes_as_in_jax(program):
    function, arrays, module = program
    first, *rest = arrays
    lanes = np.stack([first, first * 0.5])
    expected = [function(jnp.asarray(lane), *rest) for lane in lanes]
    called = numhlo.vmap(module.callable(), in_axes=(0, *[None] * len(rest)))
    np.testing.assert_allclose(called(lanes, *rest), expected, rtol=1e-11)


def test_is_part_of_a_traced_function():
    module = stablehlo.parse(DOUBLE)
    f = numhlo.jit(lambda x: module.callable()(np.sin(x)) + 1)
    x = np.ones(3, np.float32)
    np.testing.assert_allclose(f(x), 2 * np.sin(x) + 1, rtol=1e-6)
    text = f.lower(x).as_text()
    assert "call @main" in text
    official_parse(text)


def test_text_goes_round():
    module = stablehlo.parse(DOUBLE)
    assert official_parse(module.as_text()) == official_parse(DOUBLE)
    assert official_parse(module.as_text(generic=True)) == official_parse(DOUBLE)
    assert 'loc("<string>":3' in module.as_text(locations=True)


def test_a_lowered_function_is_a_module():
    lowered = numhlo.jit(lambda x: x * 2).lower(np.ones(3))
    assert stablehlo.Module(lowered.module).run("main", np.arange(3.0))[0].tolist() == [0, 2, 4]


def test_functions_by_name():
    module = stablehlo.parse(DOUBLE)
    assert list(module.functions) == ["main", "pair"]
    assert repr(module) == (
        "<StableHLO module @doubling: <function @main(tensor<3xf32>) -> (tensor<3xf32>)>, "
        "<function @pair(tensor<f64>, tensor<i8>) -> (tensor<f64>, tensor<i8>)>>"
    )
    pair = module.callable("pair")
    assert pair.__name__ == "pair" and pair is module.functions["pair"]
    x, n = pair(1.5, 3)
    assert (x.dtype, n.dtype, x.item(), n.item()) == (np.float64, np.int8, 1.5, 3)
    with pytest.raises(ArgumentError) as caught:
        module.run("loss")
    what, where, why = str(caught.value).splitlines()
    assert (what, why) == (
        "the module has no function 'loss'",
        "  its functions: main, pair",
    ) and "test_stable" in where
    with pytest.raises(ArgumentError, match=r'class ndarray\n.*\n?.*run\("main", x\)'):
        module.run(np.ones(3))


def test_the_only_function_needs_no_name(tmp_path):
    text = DOUBLE.replace("@main", "@__inference_f_12").replace("public @pair", "private @pair")
    module = stablehlo.parse(text)
    assert module.callable()(np.ones(3, np.float32)).tolist() == [2, 2, 2]
    (tmp_path / "f.mlir").write_text(text)
    assert numhlo.load(tmp_path / "f.mlir")(np.ones(3, np.float32)).tolist() == [2, 2, 2]
    with pytest.raises(ArgumentError, match=r"no function 'main'\n  at .*\n  its functions: __inference_f_12, pair"):
        stablehlo.parse(text.replace("private", "public")).callable()


def fails(error, name, *arrays):
    with pytest.raises(error) as caught:
        stablehlo.parse(DOUBLE).run(name, *arrays)
    return [line for line in str(caught.value).splitlines() if not line.startswith("  at ")]


def test_arguments_are_checked():
    assert fails(ArgumentError, "main") == [
        "main takes 1 array, not 0",
        "  it is <function @main(tensor<3xf32>) -> (tensor<3xf32>)>",
    ]
    reason = "  a StableHLO program says what it takes, and nothing is converted silently"
    assert fails(ShapeError, "main", np.ones(4, np.float32)) == [
        "main takes float32[3] as argument 0, not float32[4]",
        reason,
    ]
    assert fails(DTypeError, "main", np.ones(3)) == [
        "main takes float32[3] as argument 0, not float64[3]",
        f"{reason}; pass np.asarray(x, 'float32')",
    ]
    assert fails(DTypeError, "pair", 1.0, 2.0)[0] == "pair takes int8[] as argument 1, not Python float"
    assert fails(ArgumentError, "pair", 1.0, 300) == ["pair takes int8[] as argument 1, which can't hold 300"]
    assert fails(DTypeError, "pair", "text", 1)[0] == "argument 0 is of class str, which can't be traced"


def test_arguments_are_checked_while_tracing():
    module = stablehlo.parse(DOUBLE)
    with pytest.raises(
        DTypeError, match=r"main takes float32\[3\] as argument 0, not float64\[3\]\n  at test_stablehlo"
    ):
        numhlo.jit(module.callable())(np.ones(3))
    f = numhlo.jit(module.callable("pair"))
    x, n = f(1, 2)
    assert (x.dtype, n.dtype) == (np.float64, np.int8)


@pytest.mark.specifies("memory layout")
def test_layouts_and_byte_orders():
    module = stablehlo.parse(DOUBLE)
    x = np.arange(6, dtype=">f4")[::2]
    assert module.run("main", x)[0].tolist() == [0, 4, 8]
    assert module.interpret("main", x)[0].tolist() == [0, 4, 8]


@pytest.mark.specifies("memory layout")
def test_the_first_dimension_may_be_minor_and_padded():
    """The layout [0, 1] of [[a, b, c], [d, e, f]] is a d b e c f in memory; padded to [3, 5], with gaps."""
    a, b, c, d, e, f = letters = np.arange(1, 7, dtype=np.float32)
    x = letters.reshape(2, 3)
    minor = np.asfortranarray(x)
    padded = np.zeros((3, 5), np.float32, order="F")
    padded[:2, :3] = x
    assert minor.ravel("K").tolist() == [a, d, b, e, c, f]
    assert padded.ravel("K").tolist() == [a, d, 0, b, e, 0, c, f, 0, 0, 0, 0, 0, 0, 0]
    module = stablehlo.parse("""func.func @main(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
      %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
      %1 = stablehlo.negate %x : tensor<2x3xf32>
      return %0, %1 : tensor<6xf32>, tensor<2x3xf32>
    }""")
    for array in (x, minor, padded[:2, :3], x[::-1][::-1], np.broadcast_to(x, (4, 2, 3))[2]):
        for flat, negative in (module.run("main", array), module.interpret("main", array)):
            assert flat.tolist() == [a, b, c, d, e, f]
            assert negative.tolist() == (-x).tolist()
    assert padded.ravel("K").tolist()[:3] == [a, d, 0]


def test_results_own_their_memory():
    module = stablehlo.parse(DOUBLE)
    x = np.array(1.0)
    for results in (module.run("pair", x, 1), module.interpret("pair", x, 1)):
        results[0][...] = 7.0
        assert x == 1.0


@pytest.mark.specifies("compiling once")
def test_compiles_once(monkeypatch):
    module = stablehlo.parse(DOUBLE)
    main = module.callable()
    threads = [threading.Thread(target=module.run, args=("main", np.ones(3, np.float32))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (first,) = main.programs.values()
    module.run("main", np.ones(3, np.float32))
    assert [*main.programs.values()] == [first]


def unsupported(text, dtype=np.float64):
    with pytest.raises(UnsupportedError) as caught:
        stablehlo.parse(text, "model.mlir").run("main", np.ones(3, dtype))
    return str(caught.value)


@pytest.mark.specifies("index and shape")
def test_what_cannot_run_is_named():
    body = "%0 = chlo.unheard_of %x, %x : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>\n return %0 : tensor<3xf64>"
    text = f"func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {{\n {body} }}"
    assert unsupported(text) == (
        "chlo.unheard_of can't be run\n  at model.mlir:2:7\n"
        "  numhlo has no definition of it; export the program with it decomposed into StableHLO ops"
    )
    text = "func.func private @main(tensor<3xf64>) -> tensor<3xf64>"
    assert unsupported(text).startswith("@main is declared in the program, but has no body\n  at model.mlir:1:19\n")
    text = "func.func @main(%x: tensor<3xi9>) -> tensor<3xi9> { return %x : tensor<3xi9> }"
    assert unsupported(text).startswith("main takes a tensor<3xi9> as argument 0, which no array is")
    text = DOUBLE.replace("@doubling", "@doubling attributes {mhlo.num_partitions = 2 : i32}")
    assert re.sub(r"\n  at test_stablehlo.*", "", unsupported(text, np.float32)) == (
        "the program is for several devices: mhlo.num_partitions is 2\n"
        "  a program that is called is one process; export it for one device, without shardings; "
        "or run all processes, by numhlo.distributed.ProcessGrid"
    )


def symbolic(x, y):
    rows = x.reshape(-1, 2) @ y[:2]
    return rows.sum(0) + jnp.arange(x.shape[0] * 2).mean(), lax.fori_loop(
        0, x.shape[0], lambda i, s: s + x[i], 0 * x[0]
    )


@pytest.mark.specifies("open extents")
def test_unknown_extents_become_known_at_the_call(rng):
    n, m = jax.export.symbolic_shape("n, m", constraints=["m >= 2"])
    specs = jax.ShapeDtypeStruct((n, 4), np.float64), jax.ShapeDtypeStruct((m, 3), np.float64)
    module = stablehlo.parse(str(jax.export.export(jax.jit(symbolic))(*specs).mlir_module()))
    module.verify()
    main = module.callable()
    for rows, columns in ((3, 2), (5, 7), (3, 2)):
        x, y = rng.normal(size=(rows, 4)), rng.normal(size=(columns, 3))
        expected = symbolic(jnp.asarray(x), jnp.asarray(y))
        for results in (main(x, y), module.interpret("main", x, y), numhlo.jit(main)(x, y)):
            for found, wanted in zip(results, expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert list(main.programs) == [((3, 4), (2, 3)), ((5, 4), (7, 3))]
    slope = numhlo.grad(lambda x: main(x, y)[0].sum())(x)
    np.testing.assert_allclose(slope, jax.grad(lambda x: symbolic(x, y)[0].sum())(x), rtol=1e-12)
    with pytest.raises(ShapeError, match="m"):
        main(x, y[:1])


def test_extents_that_do_not_fit_are_reported_where_they_meet():
    text = """func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
      %b = stablehlo.dynamic_broadcast_in_dim %y, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      %r = stablehlo.add %x, %b : tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }"""
    module = stablehlo.parse(text)
    for shape in ((2, 3), (0, 3), (5, 1), (4, 0)):
        x, y = np.ones(shape, np.float32), np.arange(shape[1], dtype=np.float32)
        for (found,) in (module.run("main", x, y, np.int32(shape)), module.interpret("main", x, y, np.int32(shape))):
            np.testing.assert_array_equal(found, x + y)
    x, y = np.ones((2, 3), np.float32), np.ones(2, np.float32)
    with pytest.raises(VerificationError, match=r"broadcast_in_dim\(float32\[2\]\): \(C5\)[^\n]*\n  at <string>:2"):
        module.run("main", x, y, np.int32([2, 3]))
    with pytest.raises(VerificationError, match=r"add\(float32\[2,3\], float32\[2,2\]\)[^\n]*\n  at <string>:3"):
        module.run("main", x, y, np.int32([2, 2]))


@pytest.mark.parametrize(
    ("result", "what"),
    [
        ("4x" + "1x" * 64 + "f32", "broadcast_in_dim: its result has 65 dimensions\n  at <string>:2:12\n"),
        (
            "4x0x9000000000000000000xf32",
            "broadcast_in_dim: its result tensor<4x0x9000000000000000000xf32> is larger than any array\n  at <string>:2:12",
        ),
    ],
)
def test_what_no_array_is(result, what):
    text = f"""func.func @main(%x: tensor<4xf32>) -> tensor<{result}> {{
      %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<{result}>
      return %0 : tensor<{result}>
    }}"""
    for run in (stablehlo.parse(text).run, stablehlo.parse(text).interpret):
        with pytest.raises(UnsupportedError) as caught:
            run("main", np.ones(4, np.float32))
        assert str(caught.value).startswith(what)


def test_verifies_before_it_runs():
    text = """func.func @main(%x: tensor<3xf64>) -> tensor<2xf64> {
      %0 = "stablehlo.negate"(%x) : (tensor<3xf64>) -> tensor<2xf64>
      return %0 : tensor<2xf64>
    }"""
    module = stablehlo.parse(text, "model.mlir")
    for call in (module.verify, lambda: module.run("main", X[0, :3]), lambda: module.callable()(X[0, :3])):
        with pytest.raises(VerificationError, match=r"negate\(float64\[3\]\).*\n  at model.mlir:2"):
            call()


def test_files(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(DOUBLE)
    module = stablehlo.load(path)
    assert list(stablehlo.load(str(path)).functions) == ["main", "pair"]
    assert f'loc("{path}":3' in module.as_text(locations=True)
    path.write_bytes(b"\xff\x00\x01")
    with pytest.raises(UnsupportedError, match="is neither text nor MLIR bytecode"):
        stablehlo.load(path)
    with pytest.raises(ArgumentError, match="parse takes text, not a bytes"):
        stablehlo.parse(b"module {}")


def test_text_of_jax_export_runs():
    exported = jax.export.export(jax.jit(mlp))(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in PROGRAMS["mlp"][1:]])
    module = stablehlo.parse(str(exported.mlir_module()))
    found = module.callable()(*PROGRAMS["mlp"][1:])
    np.testing.assert_allclose(found, mlp(*PROGRAMS["mlp"][1:]), rtol=1e-12)
