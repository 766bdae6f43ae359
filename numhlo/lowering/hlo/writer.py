"""From StableHLO to HLO text.

A function becomes a computation that is called, a region one that its op names. Computations are closed: what a region
uses from around it is carried by a loop's tuple, handed to a branch, or, if it is a constant, written again inside.
Each computation is written before the one that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from numhlo.lowering.hlo.shapes import spell
from numhlo.lowering.hlo.tables import WRITE
from numhlo.lowering.ir import UNKNOWN, Function, Location, Module, Op, Region, Type, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.creation import CONSTANT


class Writer:
    """Writes a module.

    Parameters
    ----------
    locations : bool
        Write where ops come from, as metadata.
    """

    def __init__(self, *, locations: bool = False) -> None:
        self._has_locations = locations
        self._done: list[str] = []
        self._lines: list[str] = []
        self._names: dict[Value, str] = {}
        self._computations: dict[Function, str] = {}
        self._count = 0
        self._types: dict[Type, str] = {}

    def write_module(self, module: Module, header: Sequence[str] = ()) -> str:
        """Return the text of a module, whose ``main`` is the entry."""
        main = module.main
        for function in main.reached()[:-1]:
            self._computations[function] = self._write_function(function)
        entry = self._computation(self.fresh("main"), main.body)
        head = ", ".join([f"HloModule {plain(module.name) or 'module'}", *header])
        return "\n\n".join([head, *self._done, f"ENTRY {entry}"]) + "\n"

    # -- names and types

    def fresh(self, wish: str) -> str:
        """Return a name that nothing has yet."""
        self._count += 1
        return f"{wish}.{self._count}"

    def spell(self, type: Type) -> str:
        """Return a type's text."""
        found = self._types.get(type)
        if found is None:
            found = self._types[type] = spell(type)
        return found

    def name(self, value: Value) -> str:
        """Return a value's name; a constant from around is written where it is used."""
        found = self._names.get(value)
        if found is None:
            assert isinstance(value.owner, Op)
            WRITE[value.owner.definition](self, value.owner)
            found = self._names[value]
        return found

    def alias(self, value: Value, other: Value) -> None:
        """Give a value the name of another one."""
        self._names[value] = self.name(other)

    def bind(self, value: Value, name: str) -> None:
        """Give a value a name."""
        self._names[value] = name

    # -- instructions

    def line(
        self,
        opcode: str,
        type: str,
        operands: Sequence[str | Value],
        attributes: Sequence[str] = (),
        location: Location = UNKNOWN,
    ) -> str:
        """Write an instruction, and return its name; an opcode with parentheses has what stands for its operands."""
        names = ", ".join([operand if isinstance(operand, str) else self.name(operand) for operand in operands])
        name = self.fresh(opcode.partition("(")[0])
        call = opcode if opcode[-1] == ")" else f"{opcode}({names})"
        rest = "".join([f", {text}" for text in attributes])
        if self._has_locations and location is not UNKNOWN:
            rest += _metadata(location)
        self._lines.append(f"{name} = {type} {call}{rest}")
        return name

    def write(
        self,
        op: Op,
        opcode: str,
        operands: Sequence[str | Value],
        attributes: Sequence[str] = (),
        *,
        tuple: bool = False,
    ) -> None:
        """Write an op as one instruction, and name its results.

        Parameters
        ----------
        op : Op
        opcode : str
        operands : sequence of Value or str
        attributes : sequence of str
        tuple : bool
            The instruction returns a tuple even of one result.
        """
        types = [self.spell(value.type) for value in op.results]
        if len(types) == 1 and not tuple:
            self._names[op.results[0]] = self.line(opcode, types[0], operands, attributes, op.location)
            return
        self.unpack(op, self.line(opcode, f"({', '.join(types)})", operands, attributes, op.location))

    def unpack(self, op: Op, name: str) -> None:
        """Name an op's results, which are the elements of the tuple called ``name``."""
        for number, value in enumerate(op.results):
            element = self.line("get-tuple-element", self.spell(value.type), [name], [f"index={number}"])
            self._names[value] = element

    def pack(self, values: Sequence[Value | str], types: Sequence[Type]) -> str:
        """Return the name of a tuple of values."""
        return self.line("tuple", f"({', '.join(map(self.spell, types))})", values)

    # -- computations

    def callee(self, function: Function) -> str:
        """Return the name of a function's computation."""
        return self._computations[function]

    def _write_function(self, function: Function) -> str:
        text = self._computation(self.fresh(plain(function.name) or "function"), function.body)
        self._done.append(text)
        return text.partition(" ")[0]

    def _computation(self, name: str, body: Region) -> str:
        around, self._lines = self._lines, []
        for number, argument in enumerate(body.arguments):
            self._parameter(argument, number)
        self._body(body)
        names = [self.name(value) for value in body.returns]
        if len(names) == 1:
            self._root(names[0], body.returns[0].type)
        else:
            self.pack(names, [value.type for value in body.returns])
        return self._finish(name, around)

    def _parameter(self, argument: Value, number: int) -> None:
        name = self.fresh("parameter")
        self._lines.append(f"{name} = {self.spell(argument.type)} parameter({number})")
        self._names[argument] = name

    def _root(self, name: str, type: Type) -> None:
        """Make what is called ``name`` the last instruction of the computation, which is its root."""
        if not self._lines[-1].startswith(f"{name} "):
            place = next((k for k, line in enumerate(self._lines) if line.startswith(f"{name} = ")), None)
            assert place is not None, name
            self._lines[place] = f"ROOT {self._lines[place]}"

    def _finish(self, name: str, around: list[str]) -> str:
        lines = self._lines
        if not any(line.startswith("ROOT ") for line in lines):
            lines[-1] = f"ROOT {lines[-1]}"
        self._lines = around
        return f"{name} {{\n" + "".join([f"  {line}\n" for line in lines]) + "}"

    def _body(self, body: Region) -> None:
        for op in body.ops:
            rule = WRITE.find(op.definition)
            if rule is None:
                raise UnsupportedError(
                    f"{op.definition.dialect}.{op.definition.name} can't be written as HLO",
                    where=op.location,
                    why="HLO has no instruction that means it",
                )
            rule(self, op)

    def region(self, op: Op, region: Region) -> str:
        """Return the name of a region's computation; of what is around it uses constants alone."""
        outer = [value for value in captured([region]) if not is_constant(value)]
        if outer:
            raise UnsupportedError(
                f"{op.definition.name} can't be written as HLO",
                where=op.location,
                why=f"its region uses a value from around it, a {outer[0].type}, and computations of HLO are closed",
            )
        with self._own_names([region]):
            text = self._computation(self.fresh("region"), region)
        self._done.append(text)
        return text.partition(" ")[0]

    def closed_region(self, region: Region, carried: Sequence[Value], results: Sequence[Value] | None = None) -> str:
        """Return the name of a computation that takes one tuple: a region's arguments, then values from around it.

        Parameters
        ----------
        region : Region
        carried : sequence of Value
            What it uses from around, but for constants.
        results : sequence of Value, optional
            What it returns as a tuple; by default the region's one value as it is.
        """
        with self._own_names([region], carried):
            text = self._closed(region, carried, results)
        self._done.append(text)
        return text.partition(" ")[0]

    def _closed(self, region: Region, carried: Sequence[Value], results: Sequence[Value] | None) -> str:
        around, self._lines = self._lines, []
        values = [*region.arguments, *carried]
        packed = self.fresh("parameter")
        types = f"({', '.join([self.spell(value.type) for value in values])})"
        self._lines.append(f"{packed} = {types} parameter(0)")
        for number, value in enumerate(values):
            self._names[value] = self.line("get-tuple-element", self.spell(value.type), [packed], [f"index={number}"])
        self._body(region)
        if results is None:
            self._root(self.name(region.returns[0]), region.returns[0].type)
        else:
            self.pack(results, [value.type for value in results])
        return self._finish(self.fresh("region"), around)

    @contextmanager
    def _own_names(self, regions: Sequence[Region], carried: Sequence[Value] = ()) -> Iterator[None]:
        """Forget, for a while, what values from around are called there: each computation has its own names."""
        outer = [*carried, *[value for value in captured(regions) if is_constant(value)]]
        names = {value: self._names.pop(value) for value in outer if value in self._names}
        yield
        for value in outer:
            self._names.pop(value, None)
        self._names.update(names)


_ODD = re.compile(r"[^A-Za-z0-9_.-]+")
_NUMBERED = re.compile(r"(?:\.\d+)+\Z")


def plain(name: str) -> str:
    """Return a name that HLO can have, without the numbers at its end.

    Examples
    --------
    >>> plain("my op.3.1"), plain("2x")
    ('my_op', '_2x')
    """
    found = _NUMBERED.sub("", _ODD.sub("_", name))
    return found if not found or found[0].isalpha() or found[0] == "_" else f"_{found}"


def is_constant(value: Value) -> bool:
    """Return whether a value is a constant."""
    return isinstance(value.owner, Op) and value.owner.definition is CONSTANT


def captured(regions: Sequence[Region]) -> list[Value]:
    """Return the values from around that regions use, each once.

    Examples
    --------
    >>> captured([Region()])
    []
    """
    inside: set[Value] = set()
    used: dict[Value, None] = {}
    stack = list(regions)
    while stack:
        region = stack.pop()
        inside.update(region.arguments)
        used.update(dict.fromkeys(region.returns))
        for op in region.ops:
            inside.update(op.results)
            used.update(dict.fromkeys(op.operands))
            stack.extend(op.regions)
    return [value for value in used if value not in inside]


def _metadata(location: Location) -> str:
    parts = []
    if location.scope:
        parts.append(f"op_name={quoted(location.scope)}")
    if location.filename and location.line:
        parts += [f"source_file={quoted(location.filename)}", f"source_line={location.line}"]
    return f", metadata={{{' '.join(parts)}}}" if parts else ""


def quoted(text: str) -> str:
    r"""Return a string in quotes, with C's escapes.

    Examples
    --------
    >>> print(quoted('a "b"\n'))
    "a \"b\"\n"
    """
    parts = []
    for byte in text.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        known = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}.get(char)
        parts.append(known or (char if 32 <= byte < 127 else f"\\{byte:03o}"))
    return f'"{"".join(parts)}"'
