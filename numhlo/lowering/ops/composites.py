"""The registry of named composites: what a ``stablehlo.composite`` of a known name means in NumPy.

The decomposition stays the definition; an entry here says how to get the same values faster, and more accurately.
Entries are made by `special` and `loops`; the ``composite`` op looks them up.
"""

from __future__ import annotations

from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.primitive import EvaluateRule


@record(frozen=True, slots=True)
class CompositeDefinition:
    """A composite that numhlo knows by name.

    Attributes
    ----------
    name : str
        With its namespace, such as ``"numhlo.erf"``.
    evaluate : callable
        ``evaluate(arrays, attributes, regions) -> arrays`` as an op's; ``attributes`` are the composite op's own.
    operands, results : int
        How many; -1 where the attributes say so.
    documentation : str
        One sentence.
    is_library : bool
        The meaning is a call of a library, which is better than the decomposition, kernels and all.
    """

    name: str
    evaluate: EvaluateRule
    operands: int
    results: int
    documentation: str
    is_library: bool = False


COMPOSITES: dict[str, CompositeDefinition] = {}
"""Every known composite by name."""


def register(definition: CompositeDefinition) -> CompositeDefinition:
    """Add a composite; a name can be taken only once."""
    if definition.name in COMPOSITES:
        raise ValueError(f"composite {definition.name} is defined twice")
    COMPOSITES[definition.name] = definition
    return definition
