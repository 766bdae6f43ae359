"""StableHLO programs from anywhere: read them, look at them, run them, transform them.

What another tool exported is the same kind of graph that tracing makes, so all that works on a traced function works
here too. Reading and writing text is `numhlo.lowering.text`'s, checking `numhlo.lowering.verifier`'s; this module gives
them one face.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from os import PathLike
from typing import Any

from numhlo.compilation.builder_handles import Handle
from numhlo.compilation.graph_builder import GraphBuilder
from numhlo.compilation.page_of_text import Page
from numhlo.compilation.program_function import ProgramFunction
from numhlo.compilation.programs import load_backend
from numhlo.compilation.reports import describe_program, kernel_sources
from numhlo.display import program_html
from numhlo.lowering import ir
from numhlo.lowering.bytecode import MAGIC, MARK, parse_vhlo, print_artifact, read_bytecode, write_artifact
from numhlo.lowering.hlo import BEGIN, is_proto, parse_hlo, parse_hlo_proto, print_hlo, write_hlo_proto
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers, GatherDimensionNumbers, ScatterDimensionNumbers
from numhlo.lowering.ops.process_groups import GridShape, grid_for, require_size
from numhlo.lowering.passes.legalize_quantized import express_module
from numhlo.lowering.strict_verifier import verify_strictly
from numhlo.lowering.text import parse as parse_text
from numhlo.lowering.text import print_module
from numhlo.lowering.text.excerpts import marking
from numhlo.lowering.text.program_files import decoded, read_whole
from numhlo.lowering.verifier import verify
from numhlo.tracer.core.array import Array

__all__ = [
    "Builder", "DotDimensionNumbers", "GatherDimensionNumbers", "Handle", "Module", "ProgramFunction",
    "ScatterDimensionNumbers", "deserialize", "from_hlo", "load", "parse",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


load_backend()  # as `jit` does: else the first answer of a program that was read waits for it


class Module:
    """A StableHLO program.

    Parameters
    ----------
    graph : numhlo.lowering.ir.Module
        Such as the `module` of a lowered function.

    Attributes
    ----------
    graph : numhlo.lowering.ir.Module
        Must not be changed any more.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> module = parse('''
    ... func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    ...   %0 = stablehlo.add %x, %x : tensor<3xf32>
    ...   return %0 : tensor<3xf32>
    ... }''')
    >>> module.run("main", np.ones(3, np.float32))
    (Array([2., 2., 2.], dtype=float32),)
    >>> numhlo.grad(lambda x: module.callable()(x).sum())(np.ones(3, np.float32))
    Array([2., 2., 2.], dtype=float32)
    """

    def __init__(self, graph: ir.Module) -> None:
        self.graph = graph
        self._verified = False

    def __repr__(self) -> str:
        name = f" @{self.graph.name}" if self.graph.name else ""
        return f"<StableHLO module{name}: {', '.join(map(repr, self.graph.functions))}>"

    def _repr_html_(self) -> str:
        ran = [(name, program) for name, f in self.functions.items() for program in f.programs.values()]
        kernels = {k: source for _, program in ran for k, source in kernel_sources(program).items()}
        state = [f"@{name}: {line}" for name, program in ran for line in describe_program(program)]
        name = f"module @{self.graph.name}" if self.graph.name else "module"
        return program_html(f"StableHLO {name}", self.graph, kernels=kernels, state=state)

    def __reduce__(self) -> Any:
        return parse, (self.as_text(), "<pickle>")

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        return self

    @cached_property
    def functions(self) -> Mapping[str, ProgramFunction]:
        """The program's functions by name, each ready to be called."""
        found = {f.name: f for f in reversed(self.graph.functions)}  # a module's own before those of modules inside
        names = dict.fromkeys([f.name for f in self.graph.functions])
        grid = partial(grid_for, self.graph.attributes)
        return {name: ProgramFunction(found[name], self._verify_once, grid) for name in names}

    def as_text(self, *, generic: bool = False, locations: bool = False) -> str:
        """Return the program as StableHLO text.

        Parameters
        ----------
        generic : bool, optional
            Write every op in its generic form, which spells out all operands, attributes and types.
        locations : bool, optional
            End every op with its place in the source.
        """
        return Page(print_module(self.graph, generic=generic, locations=locations))

    def as_hlo_text(self, *, locations: bool = False) -> str:
        """Return the program as HLO text, which XLA reads and runs; its main function is the entry computation.

        What StableHLO calls differently is written as XLA's own converter does: regions and functions become
        computations, and what a loop or a branch uses from around it becomes part of its operands.

        Parameters
        ----------
        locations : bool, optional
            End every instruction with its place in the source, as metadata.

        Raises
        ------
        UnsupportedError
            If HLO has no instruction or no type for something in the program, naming it.

        Examples
        --------
        >>> module = parse("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }")
        >>> from_hlo(module.as_hlo_text()).functions
        {'main': <function @main(tensor<3xf32>) -> (tensor<3xf32>)>}
        """
        return Page(print_hlo(self.graph, locations=locations))

    def as_hlo_proto(self, *, locations: bool = False) -> bytes:
        """Return the program as the bytes of an ``HloModuleProto``; as `as_hlo_text`.

        Examples
        --------
        >>> module = parse("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }")
        >>> from_hlo(module.as_hlo_proto()).functions
        {'main': <function @main(tensor<3xf32>) -> (tensor<3xf32>)>}
        """
        return write_hlo_proto(self.graph, locations=locations)

    def serialize(self, version: str | None = None) -> bytes:
        """Return the program as a portable artifact, which other versions of StableHLO read.

        That is promised for StableHLO's own ops; those of CHLO and of other dialects are written as they are.

        Parameters
        ----------
        version : str, optional
            The version that must be able to read it, such as ``"1.0.0"``; by default the newest that numhlo knows.

        Raises
        ------
        UnsupportedError, ArgumentError
            If that version lacks an op, what the op says, or a type, or if there is no such version.
        """
        return write_artifact(self.graph, version)

    def as_vhlo_text(self, version: str | None = None) -> str:
        """Return what a portable artifact holds, as text in the dialect vhlo: ops as a version of StableHLO has them.

        Parameters
        ----------
        version : str, optional
            As of `serialize`, which raises the same.

        Examples
        --------
        >>> module = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
        >>> parse(module.as_vhlo_text("1.0.0")).functions
        {'main': <function @main(tensor<f32>) -> (tensor<f32>)>}
        """
        return Page(print_artifact(write_artifact(self.graph, version)))

    def verify(self, *, strict: bool = False) -> None:
        """Check that the program is well formed and obeys the constraints of the specification.

        Parameters
        ----------
        strict : bool, optional
            Refuse all that the specification refuses, also what MLIR's verifier lets pass: `docs/constraints.md`.

        Raises
        ------
        VerificationError
            Naming the op, the constraint, and the place in the text.
        """
        verify(express_module(self.graph))
        if strict:
            verify_strictly(self.graph)

    def run(self, name: str, /, *arrays: Any) -> tuple[Array, ...]:
        """Call a function, compiled.

        Parameters
        ----------
        name : str
            The function's, such as ``"main"``.
        *arrays : array_like
            Of the function's shapes and dtypes; Python scalars take the dtype that is wanted. Extents that the program
            leaves open are taken from here, and it is compiled for each choice of them.

        Returns
        -------
        tuple of Array

        Raises
        ------
        VerificationError
            If the program breaks a constraint of the specification.
        UnsupportedError
            If it has ops that numhlo has no definition of, or is meant for several devices.
        ArgumentError, ShapeError, DTypeError
            If the arrays are not what the function takes.
        """
        return self._function(name).run(*arrays)

    def interpret(self, name: str, /, *arrays: Any) -> tuple[Array, ...]:
        """Call a function on the reference interpreter, op by op; otherwise as `run`."""
        return self._function(name).interpret(*arrays)

    def callable(self, name: str | None = None) -> ProgramFunction:
        """Return a function that can be called, jitted, vectorized and differentiated like any traced one.

        Parameters
        ----------
        name : str, optional
            By default ``"main"``, or the only function that is not private.

        Returns
        -------
        ProgramFunction
            Takes arrays, returns the result where there is one, else a tuple of the results.
        """
        return self._function(self._main_name() if name is None else name)

    def _main_name(self) -> str:
        found = {f.name for f in self.graph.functions if f.visibility != "private"}
        return found.pop() if len(found) == 1 and "main" not in self.functions else "main"

    def _function(self, name: str) -> ProgramFunction:
        if not isinstance(name, str):
            raise ArgumentError(
                f"a function's name that is of class {type(name).__name__}",
                where=capture_location(),
                why="a module may have several functions",
                fix='give the name before the arrays: run("main", x)',
            )
        found = self.functions.get(name)
        if found is None:
            known = ", ".join(self.functions) or "none"
            raise ArgumentError(
                f"the module has no function {name!r}", where=capture_location(), why=f"its functions: {known}"
            )
        return found

    def _verify_once(self, grid: GridShape | None) -> None:
        require_size(self.graph.attributes, grid)
        if not self._verified:
            self.verify()
            self._verified = True


class Builder(GraphBuilder):
    """A StableHLO program made by hand, op by op.

    Ops are methods by StableHLO's names; they take and return handles, which have Python's operators, too. Numbers and
    arrays among the operands become constants. Elementwise ops broadcast scalars and extents of 1; between other ranks
    ``broadcast_dimensions`` says which dimensions match.

    Parameters
    ----------
    name : str
        The function's.
    raise_at_once : bool
        Raise an error where it is made. Otherwise the first one is noted, and raised by `build`.

    Attributes
    ----------
    error : NumhloError or None
        The error that was noted.

    Examples
    --------
    >>> import numpy as np
    >>> b = Builder("axpy")
    >>> alpha, x, y = (b.parameter(k, shape, np.float32) for k, shape in enumerate([(), (3,), (3,)]))
    >>> b.add(b.multiply(alpha, x), y)
    <value of axpy: tensor<3xf32>>
    >>> x = np.arange(3, dtype=np.float32)
    >>> b.build().run("axpy", np.float32(2), x, x)
    (Array([0., 3., 6.], dtype=float32),)

    Regions are Python functions, or builders made by `sub_builder`:

    >>> b = Builder("total")
    >>> x = b.parameter(0, (2, 3), np.float32)
    >>> _ = b.reduce(x, np.float32(0), regions=[lambda a, c: a + c], dimensions=(1,))
    >>> b.build().run("total", np.ones((2, 3), np.float32))
    (Array([3., 3.], dtype=float32),)
    """

    def build(self) -> Module:
        """Return the program, verified.

        Raises
        ------
        NumhloError
            The first error that was noted.
        """
        module = Module(self.module())
        module.verify()
        return module


def parse(text: str, name: str = "<string>", *, strict: bool = False) -> Module:
    """Read a program from StableHLO text.

    Parameters
    ----------
    text : str
        One module, or functions without one; ops in the generic or in their pretty form.
    name : str, optional
        What to call the text in messages.
    strict : bool, optional
        Verify the program at once, as `Module.verify` does with ``strict=True``.

    Returns
    -------
    Module

    Raises
    ------
    ParseError
        With line, column, the line itself and a caret.
    VerificationError
        If ``strict`` and the program breaks a constraint of the specification.
    ArgumentError
        If ``text`` is no string.

    Examples
    --------
    >>> parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }").functions
    {'main': <function @main(tensor<f32>) -> (tensor<f32>)>}
    """
    if not isinstance(text, str):
        raise ArgumentError(
            f"parse takes text, not a {type(text).__qualname__}",
            where=capture_location(),
            fix="call .as_text() or str() on what another library made; deserialize reads bytes, load a file",
        )
    module = Module(parse_vhlo(text, name) if MARK in text else parse_text(text, name, strict=strict))
    if strict:
        with marking(text, name):
            module.verify(strict=True)
    return module


def from_hlo(text: str | bytes, name: str = "<string>") -> Module:
    """Read a program from HLO, as XLA has it before or after its passes.

    Parameters
    ----------
    text : str or bytes
        One module with all its constants: text such as ``lowered.as_text("hlo")``, ``compiled.as_text()``, or a file
        that ``XLA_FLAGS=--xla_dump_to=folder --xla_dump_large_constants`` leaves; or the bytes of an
        ``HloModuleProto``, an ``HloProto`` or an ``HloSnapshot``.
    name : str, optional
        What to call the text in messages.

    Returns
    -------
    Module
        Its function is ``main``; tuples among arguments and results are flat. Fusions are taken apart, layouts left
        out, asynchronous pairs made one op.

    Raises
    ------
    ParseError
        With line, column, the line itself and a caret; also where constants are left out, or an instruction has no
        meaning in StableHLO. Of bytes the message names the instruction.
    ArgumentError
        If ``text`` is neither text nor bytes.

    Examples
    --------
    >>> module = from_hlo("HloModule twice  ENTRY e { x = f32[3] parameter(0)  ROOT y = f32[3] add(x, x) }")
    >>> import numpy as np
    >>> module.run("main", np.ones(3, np.float32))
    (Array([2., 2., 2.], dtype=float32),)
    """
    given: object = text
    if isinstance(given, bytes):
        return Module(parse_hlo_proto(given, "<bytes>" if name == "<string>" else name))
    if not isinstance(given, str):
        raise ArgumentError(
            f"from_hlo takes text or bytes, not a {type(given).__qualname__}",
            where=capture_location(),
            fix="call .as_text() or to_string() on what another library made; load reads a file",
        )
    return Module(parse_hlo(given, name))


def deserialize(data: bytes, name: str = "<bytecode>") -> Module:
    """Read a program from MLIR bytecode or a portable artifact.

    Parameters
    ----------
    data : bytes
        Such as `Module.serialize` returns, or ``jax.export``'s ``mlir_module_serialized``.
    name : str, optional
        What to call it in messages.

    Returns
    -------
    Module

    Raises
    ------
    ParseError
        If the data are malformed, or hold what StableHLO does not have: the message names the section and the byte.

    Examples
    --------
    >>> module = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
    >>> module.serialize("1.0.0")[5:20], deserialize(module.serialize())
    (b'StableHLO_v1.0.', <StableHLO module: <function @main(tensor<f32>) -> (tensor<f32>)>>)
    """
    given: object = data
    if not isinstance(given, bytes) or not given.startswith(MAGIC):
        raise ArgumentError(
            "deserialize takes MLIR bytecode", where=capture_location(), fix="use parse for text, load for a file"
        )
    return Module(read_bytecode(data, name))


def load(path: str | PathLike[str], *, strict: bool = False) -> Module:
    """Read a program from a file: StableHLO as text or MLIR bytecode, HLO as text or proto.

    Parameters
    ----------
    path : path_like
    strict : bool, optional
        As in `parse`.

    Returns
    -------
    Module

    Raises
    ------
    UnsupportedError
        If the file is of another binary form; the message says how to get text.
        If it is a device, or a pipe that nobody writes into.
    ParseError, VerificationError
        As `parse`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.mlir")
    ...     _ = path.write_text("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
    ...     load(path)
    <StableHLO module: <function @main(tensor<f32>) -> (tensor<f32>)>>
    """
    return from_bytes(read_whole(path), str(path), strict=strict)


def from_bytes(data: bytes, name: str, *, strict: bool = False) -> Module:
    """Return the program that a file called ``name`` holds, as text or as bytecode."""
    if data.startswith(MAGIC):
        return _verified(Module(read_bytecode(data, name)), strict)
    if is_proto(data):
        return _verified(from_hlo(data, name), strict)
    text = decoded(data, name)
    if text.lstrip().startswith(BEGIN):
        return _verified(from_hlo(text, name), strict)
    return parse(text, name, strict=strict)


def _verified(module: Module, strict: bool) -> Module:
    if strict:
        module.verify(strict=True)
    return module
