"""Reading HLO text from its first token to its last, into the records that `record` has.

Operands and computations must stand before they are used, as they do in all that XLA prints. What the instructions mean
is not asked here.
"""

from __future__ import annotations

import re

from numhlo.lowering.hlo.attributes import AttributeParser
from numhlo.lowering.hlo.frames import StackFrames
from numhlo.lowering.hlo.literals import LiteralError, parse_literal
from numhlo.lowering.hlo.record import Computation, HloModule, Instruction, Shape
from numhlo.lowering.hlo.shapes import is_shape
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import ParseError

_OPCODE = re.compile(r"[a-z][a-z0-9-]*\Z", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}\Z", re.ASCII)
ENTRY_LAYOUTS = "entry_computation_layout"
_BINARY_HINT = "HLO text begins with HloModule: print a module with to_string() or as_hlo_text()"


class HloParser(AttributeParser):
    """Reads a text."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.frames = StackFrames()
        self._known: dict[str, Instruction] = {}
        self._current: Computation | None = None
        self._layouts: tuple[list[Shape], Shape, int] | None = None

    def parse_module(self) -> HloModule:
        """Read the whole text."""
        if not self.at("HloModule"):
            raise self.error("HloModule")
        self.index += 1
        name = self.parse_name()
        attributes: dict[str, str] = {}
        while self.accept(","):
            self._parse_header_attribute(attributes)
        while self.token in self.frames.tables and self.token_at(1)[:1].isdigit():
            self._parse_table()
        entry = None
        computations: list[Computation] = []
        while self.token:
            is_entry = self.accept("ENTRY")
            if is_entry and entry is not None:
                raise self.complaint("a module has one ENTRY", self.index - 1)
            computations.append(self._parse_computation())
            entry = computations[-1] if is_entry else entry
        if not computations:
            raise self.error("a computation")
        module = HloModule(name, attributes, computations, entry or computations[-1])
        if self._layouts is not None:
            parameters, returned, place = self._layouts
            module.layouts = parameters, returned
            wrong = module.require_layouts_of_entry()
            if wrong:
                raise self.complaint(wrong, place)
        return module

    def _parse_header_attribute(self, attributes: dict[str, str]) -> None:
        name = self.parse_name()
        if name in attributes:
            raise self.complaint(f"{name} is given twice", self.index - 1)
        self.expect("=")
        if name == ENTRY_LAYOUTS:
            self._layouts = self._parse_entry_layouts()
            attributes[name] = ""
        else:
            attributes[name] = self.parse_raw()

    def _parse_entry_layouts(self) -> tuple[list[Shape], Shape, int]:
        """Read ``{(type, ...)->type}``."""
        first = self.index
        shapes: list[Shape] = []
        self.expect("{", "(")
        while not self.accept(")"):
            if shapes:
                self.expect(",")
            shapes.append(self.parse_shape())
        self.expect("->")
        result = self.parse_shape()
        self.expect("}")
        return shapes, result, first

    def _parse_table(self) -> None:
        table = self.frames.tables[self.advance()]
        while _NUMBER.match(self.token):
            number = int(self.advance())
            table[number] = self.parse_string() if self.token[:1] == '"' else self.parse_metadata()

    # -- computations

    def _parse_computation(self) -> Computation:
        first, name = self.index, self.parse_name()
        if name in self.computations:
            raise self.complaint(f"computation {name} is defined twice", first)
        computation = self._current = Computation(name, first)
        self._known = {}
        signature = self._parse_signature() if self.at("(") else None
        self.expect("{")
        while not self.accept("}"):
            if not self.token:
                raise self.error("'}'")
            self._parse_instruction(computation)
        if computation.root is None and not computation.instructions:
            raise self.complaint("a computation without instructions", first)
        computation.root = computation.root or computation.instructions[-1]
        self._check_parameters(computation, signature)
        while self.accept(","):
            self.parse_name()
            self.expect("=")
            self.parse_raw()
        self.computations[name] = computation
        return computation

    def _parse_signature(self) -> tuple[list[Shape], Shape, int]:
        """Read ``(name: type, ...) -> type``."""
        first = self.index
        shapes: list[Shape] = []
        self.expect("(")
        while not self.accept(")"):
            if shapes:
                self.expect(",")
            self.parse_name()
            self.expect(":")
            shapes.append(self.parse_shape())
        self.expect("->")
        return shapes, self.parse_shape(), first

    def _check_parameters(self, computation: Computation, signature: tuple[list[Shape], Shape, int] | None) -> None:
        parameters = computation.parameters()
        for number, parameter in enumerate(parameters):
            if parameter.payload != number:
                raise self.complaint(f"parameters must be numbered 0 to {len(parameters) - 1}", parameter.place)
        if signature is None:
            return
        taken, returned, first = signature
        root = computation.root
        given = [p.shape.type for p in parameters if p.shape is not None]
        if [shape.type for shape in taken] != given:
            raise self.complaint(
                f"the signature of {computation.name} does not have the types of its parameters", first
            )
        if root is not None and root.shape is not None and root.shape.type != returned.type:
            raise self.complaint(f"{computation.name} returns another type than its signature says", first)

    # -- instructions

    def _parse_instruction(self, computation: Computation) -> None:
        is_root = self.accept("ROOT")
        place, name = self.index, self.parse_name()
        if name in self._known:
            raise self.complaint(f"{name} is defined twice", place)
        self.expect("=")
        instruction = self._parse_expression(name, place)
        self._known[name] = instruction
        if is_root and computation.root is not None:
            raise self.complaint("a computation has one ROOT", place)
        if is_root:
            computation.root = instruction

    def _parse_expression(self, name: str, place: int) -> Instruction:
        """Read an instruction from its type on, and add it to the computation."""
        computation = self._current
        assert computation is not None
        shape = self.parse_shape() if is_shape(self.token) else None
        instruction = Instruction(name, "", shape, place, self.location(place))
        if self.token.startswith("constant("):
            self._parse_constant(instruction)
        else:
            self._parse_operation(instruction)
        while self.at(",") and self.token_at(2) == "=":
            self._parse_attribute(instruction)
        for called in instruction.called():
            computation.depth = max(computation.depth, called.depth + 1)
        metadata = instruction.attributes.get("metadata")
        if metadata is not None:
            instruction.location = self.frames.location(metadata, instruction.location)
        computation.instructions.append(instruction)
        return instruction

    def _parse_attribute(self, instruction: Instruction) -> None:
        self.index += 1
        name = self.parse_name()
        if name in instruction.attributes:
            raise self.complaint(f"{name} is given twice", self.index - 1)
        self.expect("=")
        instruction.attributes[name] = self.parse_attribute(name)

    def _parse_constant(self, instruction: Instruction) -> None:
        instruction.opcode, token, shape = "constant", self.token, instruction.shape
        if shape is None:
            raise self.complaint("a constant needs a type")
        type = shape.type
        if not isinstance(type, TensorType) or not type.is_static:
            raise self.complaint(f"there are no constants of type {type}")
        try:
            instruction.payload = parse_literal(token[len("constant(") : -1], type)
        except LiteralError as error:
            raise self.complaint(str(error)) from None
        self.index += 1

    def _parse_operation(self, instruction: Instruction) -> None:
        opcode = self.token
        if opcode == "constant":
            raise self.complaint("the parentheses of this constant are not closed, or hold what no constant does")
        if not _OPCODE.match(opcode):
            raise self.error("an opcode")
        instruction.opcode = opcode
        self.index += 1
        self.expect("(")
        if opcode == "parameter":
            if not _NUMBER.match(self.token):
                raise self.error("the number of a parameter")
            instruction.payload = int(self.advance())
            if instruction.shape is None:
                raise self.complaint("a parameter needs a type", instruction.place)
            self.expect(")")
            return
        while not self.accept(")"):
            if instruction.operands:
                self.expect(",")
            instruction.operands.append(self._parse_operand())

    def _parse_operand(self) -> Instruction:
        place = self.index
        if self.token.startswith("constant("):
            return self._parse_nested(place)
        if is_shape(self.token):
            shape = self.parse_shape()
            if self.token.startswith("constant(") or self.token_at(1) == "(":
                self.index = place
                return self._parse_nested(place)
            found = self._parse_reference()
            if found.shape is not None and found.shape.type != shape.type:
                raise self.complaint(f"{found.name} is of type {found.shape.type}, not {shape.type}", place)
            return found
        return self._parse_nested(place) if self.token_at(1) == "(" else self._parse_reference()

    def _parse_nested(self, place: int) -> Instruction:
        self.enter()
        instruction = self._parse_expression("", place)
        self.depth -= 1
        return instruction

    def _parse_reference(self) -> Instruction:
        index, name = self.index, self.parse_name()
        found = self._known.get(name)
        if found is None:
            raise self.complaint(f"{name} is not defined before this", index)
        return found


def parse_records(text: str, name: str = "<string>") -> tuple[HloModule, HloParser]:
    """Return what an HLO text says, and the parser, which makes messages about its places.

    Parameters
    ----------
    text : str
    name : str
        The text's, for messages.

    Raises
    ------
    ParseError
        With line, column, the line itself and a caret.

    Examples
    --------
    >>> module, _ = parse_records("HloModule m  ENTRY e { ROOT p = f32[3] parameter(0) }")
    >>> module.entry.root.opcode
    'parameter'
    """
    parser = HloParser(text, name)
    if parser.token[:1] != "H":
        raise ParseError(f"{name} is not HLO text", fix=_BINARY_HINT)
    return parser.parse_module(), parser
