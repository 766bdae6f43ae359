"""Reading an `HloModuleProto`, alone or in an `HloProto` or an `HloSnapshot`, into the records that `record` has."""

from __future__ import annotations

import re
from typing import Any

from numhlo.lowering.hlo.frames import StackFrames
from numhlo.lowering.hlo.lexer import HloCursor
from numhlo.lowering.hlo.proto import read_attributes, read_metadata
from numhlo.lowering.hlo.proto_shapes import read_literal, read_shape
from numhlo.lowering.hlo.record import Computation, HloModule, Instruction, Shape
from numhlo.lowering.hlo.shapes import spell
from numhlo.lowering.hlo.tables import find_reading
from numhlo.lowering.hlo.wire import Message, WireError
from numhlo.lowering.ir import UNKNOWN, Location, TensorType
from numhlo.lowering.ir.errors import NumhloError, ParseError
from numhlo.lowering.text.lexer import DEEPEST

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_OPCODE = re.compile(r"[a-z][a-z0-9-]*\Z", re.ASCII)
_LOOKED_AT = 4096

CALLED = {
    "while": ("body", "condition"),
    "select-and-scatter": ("select", "scatter"),
    "fusion": ("calls",),
    "async-start": ("calls",),
    "async-update": ("calls",),
    "async-done": ("calls",),
}
"""What the computations are called that an opcode names, in order; others have one, ``to_apply``."""

LISTS = {"conditional": "branch_computations", "custom-call": "called_computations"}
"""Opcodes that name any number of computations, and the attribute that lists them."""

COMPUTATIONS, HOST_PROGRAM_SHAPE, ENTRY_ID = 3, 4, 6


def is_proto(data: bytes) -> bool:
    """Return whether bytes may be one of HLO's protos: they begin with a field of bytes, and are no text.

    Examples
    --------
    >>> is_proto(bytes.fromhex("0a016d1a00")), is_proto(b"module {}")
    (True, False)
    """
    return data[:1] == b"\n" and _CONTROL.search(data[:_LOOKED_AT]) is not None


class ProtoSource:
    """Makes messages about instructions of a proto, which have no line but a name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.index = 0
        self.depth = 0
        self.names: list[str] = []

    def add(self, name: str) -> int:
        """Return the place of what is called ``name``."""
        self.names.append(name)
        return len(self.names) - 1

    def complaint(self, what: str, place: int | None = None) -> ParseError:
        """Return an error about what is at a place, ready to be raised."""
        where = self.names[self.index if place is None else place] if self.names else "the module"
        error = ParseError(f"{what}\n  at {self.name}, {where}")
        error.msg = str(error)
        return error

    def location(self, place: int | None = None) -> Location:
        """Return where something is: unknown."""
        return UNKNOWN

    def enter(self) -> None:
        """Go one level of nesting deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.complaint(f"nested deeper than {DEEPEST} levels")

    def unescape(self, token: str) -> str:
        """Return the text of a quoted token."""
        return HloCursor(token, self.name).unescape(token)


def read_proto(data: bytes, name: str) -> tuple[HloModule, ProtoSource]:
    """Return what a proto says, and what makes messages about it.

    Raises
    ------
    ParseError
        Naming the instruction.
    """
    source = ProtoSource(name)
    try:
        return _ProtoReader(source).read(_module_of(data)), source
    except WireError as error:
        raise source.complaint(f"this is no HloModuleProto: {error}", len(source.names) - 1) from None


def _module_of(data: bytes) -> Message:
    """Return the module of a proto: itself, or that of an ``HloProto`` or an ``HloSnapshot`` around it."""
    message = Message(data)
    for _ in range(2):
        if _is_module(message):
            return message
        message = Message(message.bytes(1))
    if not _is_module(message):
        raise WireError("it has no computations of instructions")
    return message


def _is_module(message: Message) -> bool:
    """Return whether a message has computations whose first instruction has an opcode and a shape."""
    try:
        first = message.messages(COMPUTATIONS)[0].messages(2)[0]
        return _OPCODE.match(first.text(2)) is not None and first.has(3)
    except (WireError, IndexError):
        return False


class _ProtoReader:
    def __init__(self, source: ProtoSource) -> None:
        self._source = source
        self._computations: dict[int, Computation] = {}
        self._frames = StackFrames()

    def read(self, module: Message) -> HloModule:
        self._read_frames(module.message(17))
        for message in module.messages(COMPUTATIONS):
            number = message.number(5)
            if number in self._computations:
                raise WireError(f"two computations have the id {number}")
            self._computations[number] = self._computation(message)
        entry = self._computations.get(module.number(ENTRY_ID))
        if entry is None:
            raise WireError("it has no entry computation")
        found = HloModule(module.text(1), {}, list(self._computations.values()), entry)
        if module.has(HOST_PROGRAM_SHAPE):
            signature = module.message(HOST_PROGRAM_SHAPE)
            found.layouts = [read_shape(m) for m in signature.messages(1)], read_shape(signature.message(2))
            wrong = found.require_layouts_of_entry()
            if wrong:
                raise WireError(wrong)
        return found

    def _read_frames(self, index: Message) -> None:
        tables = self._frames.tables
        for field, table in ((1, "FileNames"), (2, "FunctionNames")):
            names = [value for value in index.fields.get(field, ()) if isinstance(value, bytes)]
            tables[table].update({k: v.decode("utf-8", "surrogateescape") for k, v in enumerate(names, 1)})
        for k, row in enumerate(index.messages(3), 1):
            parts = ("file_name_id", 1), ("function_name_id", 2), ("line", 3), ("column", 4)
            tables["FileLocations"][k] = {part: str(row.number(field)) for part, field in parts}
        for k, row in enumerate(index.messages(4), 1):
            tables["StackFrames"][k] = {"file_location_id": str(row.number(1)), "parent_frame_id": str(row.number(2))}

    def _computation(self, message: Message) -> Computation:
        name = message.text(1)
        computation = Computation(name, self._source.add(f"computation {name}"))
        known: dict[int, Instruction] = {}
        for item in message.messages(2):
            instruction = self._instruction(item, known)
            known[item.number(35)] = instruction
            computation.instructions.append(instruction)
            for called in instruction.called():
                computation.depth = max(computation.depth, called.depth + 1)
        root = known.get(message.number(6))
        if root is None:
            raise WireError(f"computation {name} has no root")
        computation.root = root
        for number, parameter in enumerate(computation.parameters()):
            if parameter.payload != number:
                raise WireError(f"parameters of {name} must be numbered from 0")
        return computation

    def _instruction(self, m: Message, known: dict[int, Instruction]) -> Instruction:
        name, opcode = m.text(1), m.text(2)
        place = self._source.add(f"instruction {name}")
        if not m.has(3):
            raise WireError("an instruction needs a shape")
        instruction = Instruction(name, opcode, read_shape(m.message(3)), place, UNKNOWN)
        for number in m.numbers(36):
            if number not in known:
                raise WireError(f"operand {number} is not defined before this")
            instruction.operands.append(known[number])
        if opcode == "parameter":
            instruction.payload = m.number(9)
        elif opcode == "constant":
            instruction.payload = self._constant(m, instruction.shape)
        else:
            instruction.attributes = self._attributes(opcode, m)
        if m.has(7):
            instruction.location = self._frames.location(read_metadata(m), UNKNOWN)
        return instruction

    def _constant(self, m: Message, shape: Shape | None) -> Any:
        if not m.has(8):
            raise WireError("this constant has no elements: it was written without large constants")
        array = read_literal(m.message(8))
        if shape is None or shape.type != TensorType(array.shape, array.dtype):
            raise WireError("this constant's elements are of another type than it")
        return array

    def _attributes(self, opcode: str, m: Message) -> dict[str, Any]:
        found = read_attributes(opcode, m)
        numbers = m.numbers(38)
        called = []
        for number in numbers:
            if number not in self._computations:
                raise WireError(f"computation {number} is not defined before this")
            called.append(self._computations[number])
        if opcode in LISTS:
            found |= {LISTS[opcode]: tuple(called)} if called else {}
        else:
            names = CALLED.get(opcode, ("to_apply",))
            if called and len(names) != len(called):
                raise WireError(f"{opcode} names {len(names)} computations, not {len(called)}")
            found |= dict(zip(names, called, strict=False))
        if m.number(56) and m.has(57):
            shapes = [read_shape(part) for part in m.messages(57)]
            found["operand_layout_constraints"] = f"{{{', '.join(map(_spelled, shapes))}}}"
        reading = find_reading(opcode)
        usual = {"feature_group_count": 1, "batch_group_count": 1, "channel_id": 0}
        for name, value in usual.items():
            if reading is not None and name not in reading.attributes and found.get(name) == value:
                del found[name]
        return found


def _spelled(shape: Shape) -> str:
    try:
        return spell(shape.type, shape.layout)
    except NumhloError as error:
        raise WireError(str(error)) from None
