"""What HLO text says, before anybody asks what it means: modules, computations, instructions, shapes with layouts.

Instructions refer to their operands and to computations by object. Attributes hold what `attributes` makes of them;
what the opcodes mean is the families' files' concern.
"""

from __future__ import annotations

from collections.abc import Iterator
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

    def leaves(self) -> Iterator[Type]:
        """Yield the types of the arrays and tokens, tuples flat.

        Examples
        --------
        >>> from numhlo.lowering.ir import TokenType
        >>> [str(t) for t in Shape(TupleType((TokenType(),)), None, (Shape(TokenType()),)).leaves()]
        ['!stablehlo.token']
        """
        if isinstance(self.type, TupleType):
            for element in self.elements:
                yield from element.leaves()
        else:
            yield self.type


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
    """A module: its computations in the order of the text, and the one to begin with."""

    name: str
    attributes: dict[str, str]
    computations: list[Computation]
    entry: Computation
