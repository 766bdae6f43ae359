"""Programs on the command line: what is printed, what is refused, with which status."""

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import numhlo
from numhlo.__main__ import main
from numhlo.stablehlo import parse

TEXT = """func.func @main(%x: tensor<3xf32>, %n: tensor<i8>) -> (tensor<3xf32>, tensor<i8>) {
  %c = stablehlo.constant dense<0> : tensor<i8>
  %0 = stablehlo.add %n, %c : tensor<i8>
  %1 = stablehlo.transpose %x, dims = [0] : (tensor<3xf32>) -> tensor<3xf32>
  %2 = "chlo.square"(%1) : (tensor<3xf32>) -> tensor<3xf32>
  return %2, %0 : tensor<3xf32>, tensor<i8>
}
func.func @half(%x: tensor<?xbf16>, %y: tensor<complex<f32>>, %b: tensor<i1>) -> (tensor<?xbf16>, tensor<complex<f32>>) {
  %0 = stablehlo.negate %x : tensor<?xbf16>
  return %0, %y : tensor<?xbf16>, tensor<complex<f32>>
}
func.func @nothing() { return }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(TEXT)
    np.save(tmp_path / "x.npy", np.arange(3, dtype=np.float32))
    np.save(tmp_path / "wide.npy", np.arange(3.0))
    np.save(tmp_path / "half.npy", np.array([1, 2], ml_dtypes.bfloat16))
    np.savez(tmp_path / "several.npz", a=np.zeros(2))
    return path


@pytest.fixture
def command(file, capsys):
    """Run a command on the file, and return its status, its output and its messages."""

    def run(name, *options):
        status = main([name, str(file), *map(str, options)])
        return status, *capsys.readouterr()

    return run


def test_run(command, tmp_path):
    x = tmp_path / "x.npy"
    for options in ((), ("--interpret",), ("--function", "main")):
        assert command("run", "--input", x, "-5", *options) == (0, "[0., 1., 4.]\n-5\n", "")
    assert command("run", "--function", "nothing") == (0, "", "")
    results = tmp_path / "a.npy", tmp_path / "b"
    given = ("--function", "half", "--input", tmp_path / "half.npy", "1+2j", "true")
    assert command("run", *given, "--output", *results) == (0, "", "")
    assert np.load(results[0]).view(ml_dtypes.bfloat16).tolist() == [-1, -2]
    assert np.load(results[1]) == np.complex64(1 + 2j)


@pytest.mark.parametrize("number", ["-1e3", "-inf", "-2.5", "-1e-3"])
def test_negative_numbers_are_no_options(number, tmp_path, capsys):
    path = tmp_path / "same.mlir"
    path.write_text("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
    assert main(["run", str(path), "--interpret", "--input", number]) == 0
    assert np.float32(capsys.readouterr().out) == np.float32(number)


REFUSED = {
    (): "main takes 2 arguments, not 0\n  they are: 0: tensor<3xf32> 1: tensor<i8>; give each after --input: a .npy file",
    ("--function", "f"): "the module has no function 'f'\n  its functions: main, half, nothing",
    ("--input", "x.npy", "300"): "300 is neither a file nor a number for tensor<i8>",
    ("--input", "x.npy", "-1e3"): "-1e3 is neither a file nor a number for tensor<i8>",
    ("--input", "1", "1"): "1 is float32[], and the function takes tensor<3xf32>\n  a StableHLO program says",
    ("--input", "wide.npy", "1"): "wide.npy is float64[3], and the function takes tensor<3xf32>",
    ("--input", "several.npz", "1"): "several.npz holds several arrays",
    ("--input", "program.mlir", "1"): "program.mlir is no .npy file of numbers\n  it does not begin as one; write",
    ("--input", "x.npy", "1", "--output", "a"): "main returns 2 results, not 1",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_what_cannot_be_run(options, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, output, message = command("run", *options)
    assert (status, output) == (1, "")
    assert message.startswith(f"numhlo: {REFUSED[options]}")


def test_print_and_verify(command, file):
    module = parse(TEXT)
    assert command("print") == (0, module.as_text(), "")
    assert command("print", "--generic") == (0, module.as_text(generic=True), "")
    assert f'loc("{file}":3:' in command("print", "--locations")[1]
    assert command("verify") == command("verify", "--strict") == (0, "", "")
    file.write_text('func.func @main() {\n  "chlo.arc"() : () -> ()\n  return }')
    assert command("verify") == (0, "", "")
    status, output, message = command("verify", "--strict")
    assert (status, output) == (1, "")
    assert message == (
        "numhlo: arc(): chlo has no op of this name\n"
        '  at program.mlir:2:3\n      "chlo.arc"() : () -> ()\n      ^\n'
        "  StableHLO specification, arc\n"
    )
    file.write_text(TEXT.replace("dims = [0]", "dims = [1]"))
    status, output, message = command("verify")
    assert (status, output) == (1, "")
    assert message.startswith("numhlo: transpose(float32[3]): (C2)") and "at program.mlir:4:" in message
    file.write_text("func.func @main(")
    status, output, message = command("print")
    assert (status, output) == (1, "") and f"at {file}:1:17" in message
    file.write_text("module {}")
    assert command("run")[::2] == (1, f"numhlo: {file} has no function\n")
    file.unlink()
    assert command("verify")[::2] == (1, f"numhlo: {file}: No such file or directory\n")


def test_opt(command):
    status, output, message = command("opt")
    assert (status, message) == (0, "")
    assert [op.definition.name for op in parse(output).graph.main.body.ops] == ["multiply"]
    output = command("opt", "--each")[1]
    titles = [line for line in output.splitlines() if line.startswith("//")]
    assert titles == ["// after legalize: 4 ops", "// after rewrite: 2 ops", "// after remove_dead_ops: 1 op"]
    assert command("opt", "--function", "half")[2].startswith("numhlo: half has open extents, which passes don't know")


def test_in_a_shell(file):
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}

    def shell(*arguments, text=TEXT):
        command = [sys.executable, "-m", "numhlo", *arguments]
        done = subprocess.run(
            command, env=environment, input=text, capture_output=True, text=True, check=False, cwd=root, timeout=200
        )
        return done.returncode, done.stdout, done.stderr

    assert shell("print", "-") == (0, parse(TEXT).as_text(), "")
    assert shell("--version") == (0, f"numhlo {numhlo.__version__}\n", "")
    status, output, message = shell("verify", "-", text="nonsense")
    assert (status, output) == (1, "") and "at <stdin>:1:1" in message and "Traceback" not in message
    assert shell("prunt", "-")[0] == 2


def test_options_may_be_repeated(command, tmp_path):
    both = command("run", "--input", tmp_path / "x.npy", "1")
    assert command("run", "--input", tmp_path / "x.npy", "--input", "1", "--interpret") == both
    assert both[0] == 0


def test_files_that_are_no_programs(tmp_path, capsys, monkeypatch):
    path = tmp_path / "program"
    path.write_bytes(b"\xff\xfe\x00")
    with path.open() as binary:
        monkeypatch.setattr("sys.stdin", binary)
        for file, message in (
            (path, f"{path} is neither text nor MLIR bytecode"),
            ("-", "<stdin> is neither text nor MLIR bytecode"),
            (tmp_path / "nowhere", f"{tmp_path / 'nowhere'}: No such file or directory"),
            (tmp_path, f"{tmp_path}: Is a directory"),
        ):
            assert main(["verify", str(file)]) == 1
            assert capsys.readouterr().err.startswith(f"numhlo: {message}\n")
