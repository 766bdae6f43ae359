"""What HLO text says, before anybody asks what it means: modules, computations, instructions, shapes with layouts.

Instructions refer to their operands and to computations by object. Attributes hold what `attributes` makes of them;
what the opcodes mean is the families' files' concern.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from numhlo.lowering.ir import Location, TupleType, Type
from numhlo.lowering.ir.records import record


@record(frozen=True, slots=True)
class Shape:
    """A type as HLO has it: with the order of an array's elements in memory.

    Parameters
    ----------
    type : Type
        A tensor's, a token's, or a tuple's.
    layout : tuple of int, optional
        An array's dimensions from the one whose neighbours are next to each other to the slowest; None is row-major.
    elements : tuple of Shape
        A tuple's.
    """

    type: Type
    layout: tuple[int, ...] | None = None
    elements: tuple[Shape, ...] = ()

    def arrays(self) -> Iterator[Shape]:
        """Yield the shapes of the arrays and tokens, tuples flat."""
        if isinstance(self.type, TupleType):
            for element in self.elements:
                yield from element.arrays()
        else:
            yield self

    def leaves(self) -> Iterator[Type]:
        """Yield the types of the arrays and tokens, tuples flat.

        Examples
        --------
        >>> from numhlo.lowering.ir import TokenType
        >>> [str(t) for t in Shape(TupleType((TokenType(),)), None, (Shape(TokenType()),)).leaves()]
        ['!stablehlo.token']
        """
        for shape in self.arrays():
            yield shape.type


def tuple_shape(elements: tuple[Shape, ...]) -> Shape:
    """Return the shape of a tuple.

    Examples
    --------
    >>> from numhlo.lowering.ir import TokenType
    >>> print(tuple_shape((Shape(TokenType()),)).type)
    tuple<!stablehlo.token>
    """
    return Shape(TupleType(tuple([element.type for element in elements])), None, elements)


@record(slots=True, eq=False)
class Instruction:
    """One instruction.

    Attributes
    ----------
    shape : Shape or None
        None where the text leaves it out.
    operands : list of Instruction
    attributes : dict
        By name, as `attributes` reads them.
    payload : object
        A parameter's number; a constant's array.
    place : int
        The token that it begins with.
    """

    name: str
    opcode: str
    shape: Shape | None
    place: int
    location: Location
    operands: list[Instruction] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    payload: Any = None

    def called(self) -> Iterator[Computation]:
        """Yield the computations that the attributes name."""
        for value in self.attributes.values():
            if isinstance(value, Computation):
                yield value
            elif isinstance(value, tuple):
                yield from [item for item in value if isinstance(item, Computation)]


@record(slots=True, eq=False)
class Computation:
    """A computation: instructions in an order in which operands come first, and the one that it returns.

    Attributes
    ----------
    depth : int
        How deep the computations that it calls are nested.
    """

    name: str
    place: int
    instructions: list[Instruction] = field(default_factory=list)
    root: Instruction | None = None
    depth: int = 0

    def parameters(self) -> list[Instruction]:
        """Return the parameters in the order of their numbers."""
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return sorted(found, key=lambda i: int(i.payload))


@record(slots=True, eq=False)
class HloModule:
    """A module: its computations in the order of the text, and the one to begin with.

    Attributes
    ----------
    layouts : (sequence of Shape, Shape) or None
        The shapes of the entry's parameters and of its result, as they lie in the caller's memory.
    """

    name: str
    attributes: dict[str, str]
    computations: list[Computation]
    entry: Computation
    layouts: tuple[Sequence[Shape], Shape] | None = None

    def require_layouts_of_entry(self) -> str:
        """Return what is wrong with the layouts, or nothing: they are of the entry's types."""
        if self.layouts is None:
            return ""
        root = self.entry.root
        given = [*[p.shape for p in self.entry.parameters()], None if root is None else root.shape]
        wanted = [None if shape is None else shape.type for shape in given]
        found = [shape.type for shape in (*self.layouts[0], self.layouts[1])]
        return "" if found == wanted else "entry_computation_layout does not have the types of the entry computation"
