"""Results that are copied into another order of memory, since no kernel writes them so while it computes them."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.program import Launch, Step
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.layout import TRANSPOSE


def copied_results(steps: Sequence[Step], results: Sequence[int]) -> list[str]:
    """Return notes of the results that are transposing copies of what other steps computed.

    Parameters
    ----------
    steps : sequence of Step
    results : sequence of int
        The buffers of results.
    """
    makers = {number: step for step in steps if isinstance(step, Launch) for _, number in step.outputs}
    notes = []
    for place, number in enumerate(results):
        maker = makers.get(number)
        if maker is None or [op.definition for op in maker.ops] != [TRANSPOSE]:
            continue
        source = maker.ops[0].operands[0].owner
        if isinstance(source, Op):
            notes.append(f"result {place} is copied into another order of memory: {source.definition.name} has its own")
    return notes
