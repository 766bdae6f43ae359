"""From the records of an HLO module to StableHLO.

A tuple of HLO is a tuple of Python here, of values that are no tuples: StableHLO's ops, regions and functions have
several operands and results. A computation that is called is a function; one that a fusion, a loop or a reduction names
becomes a region where it is named, or, where that would write a large one twice, a region that calls a function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from numhlo.lowering.hlo.literals import MOST_DIMENSIONS
from numhlo.lowering.hlo.record import Computation, HloModule, Instruction, Shape
from numhlo.lowering.hlo.shapes import ShapeParser
from numhlo.lowering.hlo.tables import Bundle, find_reading, leaves
from numhlo.lowering.ir import Function, Location, Module, Op, Region, TensorType, TupleType, Type, Value
from numhlo.lowering.ir.errors import NumhloError, ParseError
from numhlo.lowering.ops.control_flow import CALL
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.extents import same_types
from numhlo.lowering.ops.primitive import Primitive, make_op
from numhlo.lowering.text.parser import arity, fits_in_32_bits

MOST_COPIED = 64
"""Instructions of a computation up to which it is copied into each region that names it: reducers and comparators."""

STATE = TensorType((), np.dtype(np.uint32))
"""The usual type of the state of what goes on."""

CALLS = frozenset({"call"})
CALLED_AS_FUNCTIONS = "called_computations"
"""The attribute of custom calls: what it names are functions."""

DEVICES = {"replica_count": "mhlo.num_replicas", "num_partitions": "mhlo.num_partitions"}


LAYOUT_MODE = "mhlo.layout_mode"
"""The attribute of arguments and results that says how they lie in memory, where it is not C's order."""


def _modes(shapes: Sequence[Shape]) -> list[dict[str, Any]]:
    """Return the attributes that say layouts; none where all arrays are in C's order."""
    found = [{} if s.layout is None else {LAYOUT_MODE: f"{{{','.join(map(str, s.layout))}}}"} for s in shapes]
    return found if any(found) else []


class Source(Protocol):
    """What the records come from: it makes messages about places, and bounds how deep computations are nested."""

    index: int
    depth: int

    def complaint(self, what: str, index: int | None = None, /) -> ParseError:
        """Return an error about a place, ready to be raised."""

    def location(self, index: int | None = None, /) -> Location:
        """Return a place as a location."""

    def enter(self) -> None:
        """Go one level of nesting deeper."""

    def unescape(self, token: str) -> str:
        """Return the text of a quoted token."""


class Translator:
    """Translates a module.

    Attributes
    ----------
    ops : list of Op
        Those of the region that is being filled.
    """

    def __init__(self, module: HloModule, source: Source) -> None:
        self.module, self._source = module, source
        self.ops: list[Op] = []
        self._functions: dict[Computation, Function] = {}
        self._states: list[tuple[list[Op], Op]] = []

    def translate(self) -> Module:
        """Return the StableHLO module; its entry is ``main``."""
        reached = self._reached()
        for computation in self._find_functions(reached):
            self._functions[computation] = self._function(computation)
        main = self._functions[self.module.entry]
        self._forget_states()
        main.name, main.visibility = "main", "public"
        if self.module.layouts is not None:
            parameters, returned = self.module.layouts
            main.argument_attributes = _modes([shape for p in parameters for shape in p.arrays()])
            main.result_attributes = _modes(list(returned.arrays()))
        others = [f for computation, f in self._functions.items() if computation is not self.module.entry]
        result = Module([main, *others], self.module.name)
        for name, attribute in DEVICES.items():
            text = self.module.attributes.get(name)
            if text is not None and text.isdigit() and len(text) < 10:
                result.attributes[attribute] = np.int32(text)
        return result

    def complaint(self, instruction: Instruction | Computation, what: str) -> ParseError:
        """Return an error about an instruction, ready to be raised."""
        return self._source.complaint(what, instruction.place)

    # -- computations

    def _reached(self) -> list[Computation]:
        """Return the computations that the entry reaches, in the order of the text."""
        found = {self.module.entry}
        stack = [self.module.entry]
        while stack:
            for instruction in stack.pop().instructions:
                for called in instruction.called():
                    if called not in found:
                        found.add(called)
                        stack.append(called)
        return [c for c in self.module.computations if c in found]

    def _find_functions(self, reached: Sequence[Computation]) -> list[Computation]:
        """Return the computations that become functions: the called ones, and large ones that are named twice."""
        named: Counter[Computation] = Counter()
        called = {self.module.entry}
        for computation in reached:
            for instruction in computation.instructions:
                for other in instruction.called():
                    named[other] += 1
                    if instruction.opcode in CALLS or CALLED_AS_FUNCTIONS in instruction.attributes:
                        called.add(other)
        is_small = {c: c.depth == 0 and len(c.instructions) <= MOST_COPIED for c in reached}
        return [c for c in reached if c in called or (named[c] > 1 and not is_small[c])]

    def _function(self, computation: Computation) -> Function:
        function = Function(computation.name)
        function.location = self._source.location(computation.place)
        self._fill(function.body, computation, None)
        return function

    def _fill(self, region: Region, computation: Computation, given: Sequence[Bundle] | None) -> None:
        """Write a computation into an empty region; without ``given`` operands the region takes the parameters."""
        around, self.ops = self.ops, region.ops
        result = self._run(computation, self._arguments(region, computation) if given is None else given)
        region.returns = list(leaves(result))
        self.ops = around

    def _arguments(self, region: Region, computation: Computation) -> list[Bundle]:
        """Give a region the arguments of a computation, and return them as the parameters' bundles."""
        found = []
        for parameter in computation.parameters():
            assert parameter.shape is not None
            values = iter([region.add_argument(type) for type in parameter.shape.leaves()])
            found.append(rebuilt(parameter.shape, values))
        return found

    def _run(self, computation: Computation, operands: Sequence[Bundle]) -> Bundle:
        """Append a computation's instructions, and return what its root does."""
        self._source.index = computation.place
        self._source.enter()
        results: dict[Instruction, Bundle] = {}
        for instruction in computation.instructions:
            if instruction.opcode == "parameter":
                results[instruction] = operands[instruction.payload]
            else:
                results[instruction] = self._translate(instruction, [results[o] for o in instruction.operands])
        self._source.depth -= 1
        assert computation.root is not None
        return results[computation.root]

    def inline(self, instruction: Instruction, computation: Computation, operands: Sequence[Bundle]) -> Bundle:
        """Return what a computation makes of operands, where an instruction stands."""
        self._check_operands(instruction, computation, operands)
        if computation in self._functions:
            return self.call(instruction, computation, operands)
        return self._run(computation, operands)

    def call(self, instruction: Instruction, computation: Computation, operands: Sequence[Bundle]) -> Bundle:
        """Call a computation's function."""
        self._check_operands(instruction, computation, operands)
        function, root = self._functions[computation], computation.root
        results = self.make(instruction, CALL, *leaves(tuple(operands)), results=function.result_types, callee=function)
        assert root is not None
        shape = root.shape
        if shape is None:  # left out in the text
            return results[0] if len(results) == 1 else tuple(results)
        return rebuilt(shape, iter(results))

    def function(self, computation: Computation) -> Function:
        """Return the function of a computation that `called_computations` names."""
        return self._functions[computation]

    def _check_operands(self, instruction: Instruction, computation: Computation, operands: Sequence[Bundle]) -> None:
        wanted = [p.shape for p in computation.parameters()]
        fits = len(wanted) == len(operands) and all(
            shape is not None and has_shape(bundle, shape) and [v.type for v in leaves(bundle)] == [*shape.leaves()]
            for bundle, shape in zip(operands, wanted, strict=True)
        )
        if not fits:
            takes = ", ".join([str(shape.type) for shape in wanted if shape is not None])
            raise self.complaint(instruction, f"{computation.name} takes ({takes}), not the operands' types")

    def region(self, instruction: Instruction, computation: Computation) -> Region:
        """Return a region that takes what a computation does, tuples flat, and returns what it returns."""
        region = Region()
        if computation not in self._functions:
            self._fill(region, computation, None)
            return region
        arguments = self._arguments(region, computation)
        around, self.ops = self.ops, region.ops
        region.returns = list(leaves(self.call(instruction, computation, arguments)))
        self.ops = around
        return region

    def branch(self, instruction: Instruction, computation: Computation, operands: Sequence[Bundle]) -> Region:
        """Return a region without arguments that returns what a computation makes of operands from around."""
        region = Region()
        around, self.ops = self.ops, region.ops
        region.returns = list(leaves(self.inline(instruction, computation, operands)))
        self.ops = around
        return region

    # -- instructions

    def _translate(self, instruction: Instruction, operands: list[Bundle]) -> Bundle:
        reading = find_reading(instruction.opcode)
        if reading is None:
            raise self.complaint(instruction, f"{instruction.opcode} is no opcode, or has no meaning in StableHLO")
        for name in instruction.attributes:
            if name not in reading.attributes:
                raise self.complaint(instruction, f"{instruction.opcode} has no attribute {name}")
        for name in reading.needed:
            if name not in instruction.attributes:
                raise self.complaint(instruction, f"{instruction.opcode} needs the attribute {name}")
        result = reading.rule(self, instruction, operands)
        shape = instruction.shape
        if shape is not None and not has_shape(result, shape):
            found = ", ".join([str(v.type) for v in leaves(result)])
            found = f"({found})" if isinstance(result, tuple) else found
            raise self.complaint(instruction, f"{instruction.opcode} returns {found}, not {shape.type}")
        return result

    def make(
        self,
        instruction: Instruction,
        definition: Primitive,
        *operands: Value,
        regions: Sequence[Region] = (),
        results: Sequence[Type] | None = None,
        **attributes: Any,
    ) -> list[Value]:
        """Append an op and return its results.

        Raises
        ------
        ParseError
            If it breaks a constraint of the specification.
        """
        least, more = arity(definition.operands)
        if len(operands) < least or (len(operands) > least and not more):
            given = f"{least} operands, not {len(operands)}"
            raise self.complaint(instruction, f"{instruction.opcode} takes {'at least ' if more else ''}{given}")
        for item in definition.attributes:
            if item.kind == "i32" and not fits_in_32_bits(attributes.get(item.name, 0)):
                raise self.complaint(instruction, f"{item.name} of {instruction.opcode} takes 32 bits")
        try:
            op = make_op(definition, operands, attributes, regions, results, instruction.location)
        except ParseError:
            raise
        except NumhloError as error:
            raise self.complaint(instruction, error.what) from None
        self.ops.append(op)
        return op.results

    def one(
        self,
        instruction: Instruction,
        definition: Primitive,
        *operands: Value,
        result: Type | None = None,
        regions: Sequence[Region] = (),
        **attributes: Any,
    ) -> Value:
        """Append an op with one result, and return that."""
        results = None if result is None else [result]
        return self.make(instruction, definition, *operands, regions=regions, results=results, **attributes)[0]

    def arrays(self, instruction: Instruction, operands: Sequence[Bundle], count: int | None = None) -> list[Value]:
        """Return operands that must be arrays, so many of them."""
        if count is not None and len(operands) != count:
            raise self.complaint(instruction, f"{instruction.opcode} takes {count} operands, not {len(operands)}")
        for number, bundle in enumerate(operands):
            if not isinstance(bundle, Value) or not isinstance(bundle.type, TensorType):
                raise self.complaint(instruction, f"operand {number} of {instruction.opcode} must be an array")
        return list(operands)

    def state(self, instruction: Instruction, type: Type = STATE) -> Value:
        """Return what stands for the state of something that goes on, of which nothing is left here."""
        if not isinstance(type, TensorType) or not type.is_static or type.ndim > MOST_DIMENSIONS:
            raise self.complaint(instruction, f"the state of {instruction.opcode} must be an array, not a {type}")
        zeros = np.broadcast_to(np.zeros((), type.dtype), type.shape)
        value = self.one(instruction, CONSTANT, value=zeros)
        self._states.append((self.ops, self.ops[-1]))
        return value

    def _forget_states(self) -> None:
        """Remove the states that nothing uses: nearly all."""
        if not self._states:
            return
        used: set[Value] = set()
        for function in self._functions.values():
            used.update(function.body.returns)
            for op in function.body.walk():
                used.update(op.operands)
                for region in op.regions:
                    used.update(region.returns)
        unused = {op for _, op in self._states if op.result not in used}
        for ops in {id(ops): ops for ops, _ in self._states}.values():
            ops[:] = [op for op in ops if op not in unused]

    def unquoted(self, instruction: Instruction, text: str) -> str:
        """Return what stands between the quotes of an attribute's text."""
        self._source.index = instruction.place
        if len(text) < 2 or text[-1] != '"':
            raise self.complaint(instruction, "a string of this instruction has no closing quote")
        return self._source.unescape(text)

    def parse_shapes(self, instruction: Instruction, text: str) -> tuple[Shape, ...]:
        """Return the types in braces that an attribute's text spells."""
        try:
            return ShapeParser(text, "types").parse_shapes()
        except ParseError as error:
            raise self.complaint(instruction, error.msg.splitlines()[0]) from None

    def array_type(self, instruction: Instruction) -> TensorType:
        """Return the type of an instruction's result, which must be written and an array's."""
        type = None if instruction.shape is None else instruction.shape.type
        if not isinstance(type, TensorType):
            raise self.complaint(instruction, f"{instruction.opcode} needs the type of its result, an array's")
        return type

    def shape(self, instruction: Instruction) -> Shape:
        """Return the shape of an instruction's result, which must be written."""
        if instruction.shape is None:
            raise self.complaint(instruction, f"{instruction.opcode} needs the type of its result")
        return instruction.shape


def rebuilt(shape: Shape, values: Iterator[Value]) -> Bundle:
    """Return the next of ``values`` as a bundle of a shape."""
    if isinstance(shape.type, TupleType):
        return tuple([rebuilt(element, values) for element in shape.elements])
    return next(values)


def has_shape(bundle: Bundle, shape: Shape) -> bool:
    """Return whether a bundle has the types and the tuples of a shape."""
    if isinstance(shape.type, TupleType):
        is_tuple = isinstance(bundle, tuple) and len(bundle) == len(shape.elements)
        return is_tuple and all(has_shape(b, s) for b, s in zip(bundle, shape.elements, strict=True))
    return isinstance(bundle, Value) and same_types([bundle.type], [shape.type])


def attribute(instruction: Instruction, name: str, default: Any) -> Any:
    """Return an attribute's value, or what it is where the text leaves it out."""
    values: Mapping[str, Any] = instruction.attributes
    return values.get(name, default)
