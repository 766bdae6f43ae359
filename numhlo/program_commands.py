"""The commands of ``python -m numhlo`` that read a program: run, print, convert, verify, opt.

They know files and the shell; what they do with a program is `numhlo.stablehlo`'s. Results go to standard output, so
that commands can be chained (``-`` is standard input); messages go to standard error, by whoever calls `perform`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from numhlo.array_file import read_array
from numhlo.lowering import ir
from numhlo.lowering.ir import Function, TensorType, Type
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.types import COMPLEX, INTEGERS
from numhlo.lowering.ops.extension_loading import load_extensions
from numhlo.lowering.ops.extents import same_shape
from numhlo.lowering.passes.flatten_values import leaf_types
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.passes.refine_shapes import is_static
from numhlo.lowering.passes.user_passes import OWN, USER_PASSES
from numhlo.lowering.text import print_module
from numhlo.stablehlo import Module, from_bytes, load

__all__ = ["add_commands", "perform", "spaced"]


def spaced(text: str) -> str:
    """Return a word of the command line, a negative number with a space before it, which argparse takes for no option.

    It knows ``-1`` and ``-1.5`` by itself, but not ``-1e3`` and ``-inf``.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> spaced("-1e3"), spaced("--input")
    (' -1e3', '--input')
    """
    try:
        complex(text)
    except ValueError:
        return text
    return f" {text}" if text.startswith("-") else text


def add_commands(commands: Any) -> None:
    """Add the commands to a parser's subcommands.

    Parameters
    ----------
    commands : argparse._SubParsersAction

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_commands(parser.add_subparsers())
    >>> parser.parse_args(["run", "model.mlir", "--input", "x.npy", "3"]).input
    ['x.npy', '3']
    """
    run = _add(commands, "run", "call a function of a program and print its results", run_program)
    run.add_argument("--function", metavar="NAME", help="instead of main, or the first public one")
    several: dict[str, Any] = {"metavar": "FILE", "nargs": "+", "action": "extend", "default": []}
    run.add_argument("--input", **several, help="arguments in order: .npy files, or numbers")
    run.add_argument("--output", **several, help="write results to .npy files, in order")
    run.add_argument("--interpret", action="store_true", help="op by op on NumPy, instead of compiled")
    show = _add(commands, "print", "print a program as StableHLO text", print_program)
    show.add_argument("--generic", action="store_true", help="every op in its generic form")
    show.add_argument("--locations", action="store_true", help="with each op's place in the source")
    convert = _add(commands, "convert", "print a program as text of StableHLO or HLO", convert_program)
    convert.add_argument("--to", choices=("stablehlo", "hlo"), default="stablehlo", help="by default stablehlo")
    convert.add_argument("--locations", action="store_true", help="with each op's place in the source")
    verify = _add(commands, "verify", "check a program; says nothing if it is well formed", verify_program)
    verify.add_argument("--strict", action="store_true", help="refuse all that the StableHLO specification refuses")
    opt = _add(commands, "opt", "print a program as it is after numhlo's passes", optimize_program, nargs="?")
    opt.add_argument("--function", metavar="NAME", help="instead of main, or the first public one")
    opt.add_argument("--each", action="store_true", help="after every pass, with the number of ops left")
    opt.add_argument("--list", action="store_true", help="the names of the passes in their order, instead of a program")


def _add(commands: Any, name: str, text: str, function: Callable[..., str], **options: Any) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    one.add_argument(
        "file",
        metavar="FILE",
        help="StableHLO as text or bytecode, or HLO; - for standard input",
        **options,
    )
    one.set_defaults(perform=function)
    return one


def perform(given: argparse.Namespace) -> str:
    """Return what a command prints.

    Parameters
    ----------
    given : argparse.Namespace
        What the parser made of the command line.

    Returns
    -------
    str

    Raises
    ------
    NumhloError, OSError
        If it can't be done.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> parser = argparse.ArgumentParser()
    >>> add_commands(parser.add_subparsers())
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.mlir")
    ...     _ = path.write_text("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
    ...     perform(parser.parse_args(["run", str(path), "--input", "3"]))
    '3.'
    """
    text: str = given.perform(given)
    return text


def _module(given: argparse.Namespace, *, strict: bool = False) -> Module:
    if given.file == "-":
        return from_bytes(sys.stdin.buffer.read(), "<stdin>", strict=strict)
    return load(given.file, strict=strict)


def _name(module: Module, given: argparse.Namespace) -> str:
    if not module.graph.functions:
        raise ArgumentError(f"{given.file} has no function")
    return given.function or module.graph.main.name


def run_program(given: argparse.Namespace) -> str:
    """Call a function, and return its results as text, or write them to files."""
    module = _module(given)
    function = module.callable(_name(module, given))
    types = function.source.argument_types
    if len(types) != len(given.input):
        wanted = " ".join(f"{k}: {type}" for k, type in enumerate(types)) or "none"
        raise ArgumentError(
            f"{function.source.name} takes {counted(len(types), 'argument')}, not {len(given.input)}",
            why=f"they are: {wanted}",
            fix="give each after --input: a .npy file, or a number",
        )
    arrays = [_array(text, type) for text, type in zip(given.input, types, strict=True)]
    results = function.interpret(*arrays) if given.interpret else function.run(*arrays)
    if not given.output:
        return "\n".join(map(_shown, results))
    if len(given.output) != len(results):
        returned = counted(len(results), "result")
        raise ArgumentError(f"{function.source.name} returns {returned}, not {len(given.output)}")
    for path, result in zip(given.output, results, strict=True):
        with Path(path).open("wb") as file:
            np.save(file, result, allow_pickle=False)
    return ""


def _array(text: str, type: Type) -> np.ndarray:
    """Return an argument that the shell gave, of the type that a function takes."""
    if not isinstance(type, TensorType):
        raise UnsupportedError(f"an argument of type {type} can't be given on the command line")
    number = _number(text, type.dtype)
    array = _file(text, type) if number is None else number
    if not same_shape(array.shape, type.shape) or array.dtype != type.dtype:
        raise ArgumentError(
            f"{text.lstrip()} is {_spelled(array)}, and the function takes {type}",
            why="a StableHLO program says what it takes, and nothing is converted silently",
        )
    return array


def _spelled(array: np.ndarray) -> str:
    return f"{array.dtype.name}{list(array.shape)}"


def _number(text: str, dtype: np.dtype) -> np.ndarray | None:
    """Return a number as a scalar of a dtype, None where the text is none that the dtype can hold."""
    if text in {"true", "false"}:
        return np.array(text == "true")
    try:
        with np.errstate(over="raise"):
            if dtype in INTEGERS:
                return np.array(int(text), dtype)
            return np.array(complex(text) if dtype in COMPLEX else float(text)).astype(dtype)
    except (ValueError, OverflowError, FloatingPointError):
        return None


def _file(path: str, type: TensorType) -> np.ndarray:
    try:
        array = read_array(path)
    except FileNotFoundError:
        raise ArgumentError(f"{path.lstrip()} is neither a file nor a number for {type}") from None
    if array.dtype.kind == "V" and array.dtype.itemsize == type.dtype.itemsize:
        return array.view(type.dtype)  # files don't keep the names of types that NumPy doesn't have
    return array


def _shown(result: Any) -> str:
    if isinstance(result, tuple):
        return f"({', '.join(map(_shown, result))})"
    return "token" if result is None else np.array2string(np.asarray(result), separator=", ", threshold=1000)


def print_program(given: argparse.Namespace) -> str:
    """Return a program's text."""
    return _module(given).as_text(generic=given.generic, locations=given.locations).rstrip("\n")


def convert_program(given: argparse.Namespace) -> str:
    """Return a program's text in the language that is asked for."""
    module = _module(given)
    text = (
        module.as_hlo_text(locations=given.locations)
        if given.to == "hlo"
        else module.as_text(locations=given.locations)
    )
    return text.rstrip("\n")


def verify_program(given: argparse.Namespace) -> str:
    """Check a program, and return nothing."""
    _module(given, strict=given.strict).verify()
    return ""


def optimize_program(given: argparse.Namespace) -> str:
    """Return a function's text after all passes, or after each of them; or what passes there are."""
    if given.list:
        load_extensions()
        return "\n".join([*OWN, *[one.name for one in USER_PASSES]])
    if given.file is None:
        raise ArgumentError("opt: no program is given", fix="give a file, - for standard input, or --list")
    module = _module(given)
    function = module.callable(_name(module, given))
    if not is_static(function.source):
        raise UnsupportedError(
            f"{function.source.name} has open extents, which passes don't know",
            fix="print it with extents instead of ?; run takes them from its arguments",
        )
    texts: list[str] = []

    def keep(name: str, made: Function) -> None:
        count = sum(1 for reached in ir.Module([made]).reachable() for _ in reached.body.walk())
        texts.append(f"// after {name}: {counted(count, 'op')}\n{print_module(ir.Module([made], module.graph.name))}")

    leaves = [leaf for type in function.source.argument_types for leaf in leaf_types(type)]
    legal = function.function(tuple([leaf.shape for leaf in leaves if isinstance(leaf, TensorType)]))
    keep("legalize", legal)
    optimized = optimize(legal, after_pass=keep)
    optimized.visibility = "public"
    if given.each:
        return "\n".join(texts).rstrip("\n")
    return print_module(ir.Module([optimized], module.graph.name)).rstrip("\n")
