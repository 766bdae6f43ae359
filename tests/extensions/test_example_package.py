"""A package of its own that extends numhlo: what it brings along, on every engine, transformed, from text, and found."""

import os
import re
import subprocess
import sys
import tomllib
from functools import partial
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from scipy.special import erf

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError, VerificationError
from numhlo.lowering.ops import extension_loading
from numhlo.lowering.passes.user_passes import USER_PASSES
from tests.library.test_custom_calls import every_way
from tests.lowering.hlo.judges import printed_by_xla, read_by_xla

PACKAGE = Path(__file__).parent / "example_package"


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(PACKAGE))
    try:
        package = __import__("numhlo_example.ops", fromlist=["ops"])
        functions = __import__("numhlo_example.functions", fromlist=["functions"])
        __import__("numhlo_example.composites")
    finally:
        sys.path.remove(str(PACKAGE))
    return {**vars(functions), **vars(package)}


@pytest.fixture
def joining(example):
    sys.path.insert(0, str(PACKAGE))
    try:
        passes = __import__("numhlo_example.passes", fromlist=["passes"])
    finally:
        sys.path.remove(str(PACKAGE))
    if not USER_PASSES:
        numhlo.extending.add_pass("example.join_rotations", passes.join_rotations)
    yield
    numhlo.extending.remove_pass("example.join_rotations")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder that makes the package an installed one, as an installer that may use no network makes it."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    folder = tmp_path_factory.mktemp("site")
    described = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())
              for group, points in project["entry-points"].items()]  # fmt: skip
    (described / "entry_points.txt").write_text("\n".join(groups))
    return folder


def test_a_python_function(example, rng):
    softplus, x = example["softplus"], rng.normal(size=(2, 5))
    expected = np.logaddexp(0, 3 * x) / 3
    slope = 1 / (1 + np.exp(-3 * x))
    for found in every_way(lambda x: softplus(x, sharpness=3.0) * 2, x):
        np.testing.assert_array_equal(found, expected * 2)
    for found in every_way(numhlo.vmap(numhlo.grad(lambda row: softplus(row, sharpness=3.0).sum())), x):
        np.testing.assert_allclose(found, slope, rtol=1e-14)


def decay_by_hand(x, rate):
    out, level = np.empty_like(x), 0.0
    for i, value in enumerate(x):
        level = out[i] = level * rate + value
    return out


def test_a_native_function(example, rng):
    decay, x, w = example["decay"], rng.normal(size=(3, 6)), rng.normal(size=6)
    for found in every_way(lambda x: decay(np.sin(x), 0.5), x[0]):
        np.testing.assert_allclose(found, decay_by_hand(np.sin(x[0]), 0.5), rtol=1e-12)
    for found in every_way(numhlo.vmap(lambda row: decay(row, 0.5)), x):
        np.testing.assert_allclose(found, [decay_by_hand(row, 0.5) for row in x], rtol=1e-12)
    expected = decay_by_hand(w[::-1], 0.5)[::-1]
    for found in every_way(numhlo.grad(lambda row: (w * decay(row, 0.5)).sum()), x[0]):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    f = numhlo.jit(lambda x: decay(x, 0.25))
    for size in (3, 8, 1):
        x = rng.normal(size=size)
        f(x)
        f.wait()
        np.testing.assert_allclose(f(x), decay_by_hand(x, 0.25), rtol=1e-12)
    assert "in Python" not in f.explain()


def test_an_op_that_means_others(example, rng):
    rotate, x, w = example["rotate"], rng.normal(size=(3, 5)), rng.normal(size=5)
    for found in every_way(lambda x: rotate(x + 1, steps=2) * 2, x[0]):
        np.testing.assert_array_equal(found, np.roll(x[0] + 1, -2) * 2)
    for found in every_way(numhlo.vmap(numhlo.grad(lambda row: (w * rotate(row, steps=1) ** 2).sum())), x):
        np.testing.assert_allclose(found, 2 * x * np.roll(w, 1), rtol=1e-14)
    f = numhlo.jit(lambda x: rotate(x, steps=2))
    f(x[0])
    f.wait()
    assert "in Python" not in f.explain() and "on NumPy" not in f.explain()


def test_an_op_with_a_kernel(example, rng):
    running_maximum, x = example["running_maximum"], rng.normal(size=(3, 7))
    for found in every_way(lambda x: running_maximum(x) - 1, x[0]):
        np.testing.assert_array_equal(found, np.maximum.accumulate(x[0]) - 1)
    for found in every_way(numhlo.vmap(running_maximum), x):
        np.testing.assert_array_equal(found, np.maximum.accumulate(x, axis=1))
    counts = np.bincount([np.argmax(x[0][: k + 1]) for k in range(7)], minlength=7)
    for found in every_way(numhlo.grad(lambda row: running_maximum(row).sum()), x[0]):
        np.testing.assert_array_equal(found, counts)
    f = numhlo.jit(running_maximum)
    f(x[0])
    f.wait()
    for row in x:
        np.testing.assert_array_equal(f(row), np.maximum.accumulate(row))
    assert "in Python" not in f.explain()


def test_text_of_ops(example):
    rotate = example["rotate"]
    text = numhlo.jit(lambda x: rotate(x, steps=2)).lower(np.ones(3)).as_text()
    assert '"example.rotate"(%arg0) <{steps = 2 : i64}> : (tensor<3xf64>) -> tensor<3xf64>' in text
    assert numhlo.stablehlo.parse(text).as_text() == text
    with pytest.raises(VerificationError, match=r"rotate.*its type rule says \(float64\[3\]\)"):
        numhlo.stablehlo.parse(text.replace("tensor<3xf64>", "tensor<4xf64>").replace("(tensor<4", "(tensor<3")
                               .replace("arg0: tensor<4", "arg0: tensor<3")).verify()  # fmt: skip
    scalar = text.replace("tensor<3xf64>", "tensor<f64>")
    with pytest.raises(VerificationError, match=r"example\.rotate\(float64\[\]\): a scalar can't be rotated"):
        numhlo.stablehlo.parse(scalar).verify()
    with pytest.raises(VerificationError, match="a scalar can't be rotated"):
        rotate(1.0, steps=1)
    with pytest.raises(numhlo.errors.ParseError, match="needs the attribute steps"):
        numhlo.stablehlo.parse(text.replace("<{steps = 2 : i64}> ", ""))
    with pytest.raises(ArgumentError, match=r"example\.rotate: the attribute steps is missing"):
        rotate(np.ones(3))
    with pytest.raises(ArgumentError, match=r"the attribute step is not known"):
        rotate(np.ones(3), steps=1, step=2)


def gelu_by_hand(x, scale):
    return scale * x * 0.5 * (1 + erf(x / np.sqrt(2)))


@pytest.mark.parametrize("version", [1, 2])
def test_a_composite_that_means_something_else(example, rng, version):
    @partial(lax.composite, name="example.gelu", version=version)
    def gelu(x, /, *, scale):
        return scale * x / (1 + np.exp(-1.702 * x))

    x = rng.normal(size=(2, 4))
    meant = gelu_by_hand if version == 1 else lambda x, scale: scale * x / (1 + np.exp(-1.702 * x))
    for found in every_way(lambda x: gelu(x, scale=2.0), x):
        np.testing.assert_allclose(found, meant(x, 2.0), rtol=1e-13)
    h = 1e-6
    slope = (meant(x + h, 2.0) - meant(x - h, 2.0)) / (2 * h)
    for found in every_way(numhlo.vmap(numhlo.grad(lambda row: gelu(row, scale=2.0).sum())), x):
        np.testing.assert_allclose(found, slope, rtol=1e-7, atol=1e-8)


TEXT = """
func.func private @estimate(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.logistic %x : tensor<4xf64>
  %1 = stablehlo.multiply %x, %0 : tensor<4xf64>
  return %1 : tensor<4xf64>
}
func.func public @main(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.composite "example.gelu" %x {decomposition = @estimate, version = 1 : i32} : (tensor<4xf64>) -> tensor<4xf64>
  %1 = "example.rotate"(%0) <{steps = 1 : i64}> : (tensor<4xf64>) -> tensor<4xf64>
  %2 = "example.rotate"(%1) <{steps = 1 : i64}> : (tensor<4xf64>) -> tensor<4xf64>
  %3 = stablehlo.custom_call @example.softplus(%2) {api_version = 4 : i32, backend_config = {sharpness = 2.0 : f64}} : (tensor<4xf64>) -> tensor<4xf64>
  return %3 : tensor<4xf64>
}
"""


def by_hand(x):
    return np.logaddexp(0, 2 * np.roll(gelu_by_hand(x, 1.0), -2)) / 2


@pytest.mark.specifies("extensions")
def test_programs_from_text(example, rng):
    module = numhlo.stablehlo.parse(TEXT)
    module.verify()
    for _ in range(3):
        x = rng.normal(size=4)
        np.testing.assert_allclose(module.run("main", x)[0], by_hand(x), rtol=1e-13)
        next(iter(module.functions["main"].programs.values())).wait()
    np.testing.assert_allclose(module.interpret("main", x)[0], by_hand(x), rtol=1e-13)


def test_programs_for_other_tools(example, rng):
    """HLO has what ops mean in others; one that means none is refused by its name."""
    rotate, running_maximum, x = example["rotate"], example["running_maximum"], rng.normal(size=4)
    module = numhlo.stablehlo.parse(numhlo.jit(lambda x: rotate(rotate(x, steps=1), steps=1) * 2).lower(x).as_text())
    again = numhlo.stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
    np.testing.assert_array_equal(again.run("main", x)[0], np.roll(x, -2) * 2)
    module = numhlo.stablehlo.parse(numhlo.jit(running_maximum).lower(x).as_text())
    with pytest.raises(UnsupportedError, match=r"example\.running_maximum can't be written as HLO"):
        module.as_hlo_text()


@pytest.mark.specifies("extensions")
def test_a_pass(example, joining, rng, capsys):
    rotate, x = example["rotate"], rng.normal(size=5)
    with numhlo.debugging(dump="passes", verify=True):
        f = numhlo.jit(lambda x: rotate(rotate(rotate(x, steps=1), steps=1), steps=2))
        found = f(x)
        f.wait()
    dumped = capsys.readouterr().err
    passes = re.split("==== .*: after (.*) ====", dumped)[1:]
    assert passes[::2] == ["rewrite", "remove_dead_ops", "example.join_rotations", "rewrite", "remove_dead_ops"]
    assert [text.count('"example.rotate"') for text in passes[1::2]] == [3, 3, 3, 0, 0]
    assert ["steps = 4 : i64" in text for text in passes[1::2]] == [False, False, True, False, False]
    np.testing.assert_array_equal(found, np.roll(x, -4))
    np.testing.assert_array_equal(f(x), np.roll(x, -4))


def test_bad_passes(example, joining):
    add = numhlo.extending.add_pass
    for name in ("rewrite", "", "example.join_rotations"):
        with pytest.raises(ArgumentError, match=f"add_pass: the name '{name}'"):
            add(name, lambda function: None)
    with pytest.raises(ArgumentError, match=r"there is no pass 'other'\n.*\n  those that were added: example"):
        numhlo.extending.remove_pass("other")
    add("test.changing", lambda function: numhlo.lowering.ir.Function("f", numhlo.lowering.ir.Region()))
    try:
        with pytest.raises(VerificationError, match=r"the pass 'test\.changing' changed a function's argument types"):
            numhlo.jit(lambda x: x + 1)(np.ones(3))
    finally:
        numhlo.extending.remove_pass("test.changing")
    add("test.raising", lambda function: 1 / 0)
    try:
        with pytest.raises(ZeroDivisionError) as caught:
            numhlo.jit(lambda x: x + 2)(np.ones(3))
        assert caught.value.__notes__[0].startswith("in the pass 'test.raising', added at test_example_package.py")
    finally:
        numhlo.extending.remove_pass("test.raising")


def test_bad_definitions(example):
    define = numhlo.extending.define_op
    same = {"result": lambda x: x, "implementation": lambda x: x}
    for name in ("stablehlo.rotate", "rotate", "", "numhlo.x", "a b.c"):
        with pytest.raises(ArgumentError, match=f"define_op: the name '{name}'"):
            define(name, **same)
    with pytest.raises(ArgumentError, match=r"example\.rotate is defined already\n.*\n  at ops\.py:\d+"):
        define("example.rotate", **same)
    with pytest.raises(ArgumentError, match=r"nothing says what example\.empty computes"):
        define("example.empty", result=lambda x: x)
    with pytest.raises(ArgumentError, match=r"define_op example\.python: the kernel is of class function"):
        define("example.python", kernel=lambda x: x, **same)
    plain = define("example.plain", **same)
    with pytest.raises(UnsupportedError, match=r"the derivative of example\.plain"):
        numhlo.grad(lambda x: plain(x).sum())(np.ones(3))
    override = numhlo.extending.override_composite
    with pytest.raises(ArgumentError, match=r"version 1 of example\.gelu is overridden already"):
        override("example.gelu", lambda x: x, version=1)
    with pytest.raises(ArgumentError, match=r"override_composite: the name 'numhlo\.erf'"):
        override("numhlo.erf", lambda x: x)
    override("example.wrong", lambda x: x[:1])
    wrong = lax.composite(lambda x: x, "example.wrong")
    with pytest.raises(ArgumentError, match=r"what replaces example\.wrong returns \(tensor<1xf64>\)"):
        numhlo.jit(wrong)(np.ones(3))


def command(*words, installed=None, text=""):
    """Return the exit status of ``python -m numhlo`` in a process that may see the package, and what it prints."""
    paths = [str(Path(numhlo.__file__).parents[1]), *([str(installed), str(PACKAGE)] if installed else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    whole = [sys.executable, "-m", "numhlo", *words]
    ran = subprocess.run(whole, input=text, capture_output=True, text=True, env=environment, check=False)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.slow
def test_installed_packages_are_found(installed, tmp_path, rng):
    x = rng.normal(size=4)
    np.save(tmp_path / "x.npy", x)
    words = ("run", "-", "--input", str(tmp_path / "x.npy"), "--output", str(tmp_path / "y.npy"))
    status, _, error = command(*words, text=TEXT)
    assert status != 0 and "example.rotate can't be run" in error
    status, _, error = command(*words, installed=installed, text=TEXT)
    assert status == 0, error
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), by_hand(x), rtol=1e-13)
    _, output, _ = command("opt", "--list", installed=installed)
    assert output.splitlines() == ["legalize", "rewrite", "remove_dead_ops", "example.join_rotations"]


def test_an_entry_point_that_fails_is_named(monkeypatch):
    point = metadata.EntryPoint("broken", "no_such_module_of_tests", "numhlo.ops")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point])
    monkeypatch.setitem(extension_loading._state, "done", False)
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="the entry point broken = no_such_module_of_tests of the group"):
            numhlo.stablehlo.parse('func.func @f() { "broken.op"() : () -> () return }')
