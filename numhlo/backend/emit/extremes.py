"""Which minima and maxima of a loop run over its rounds, so that LLVM may take many rounds at once.

It does so for the words `minimum` and `maximum`, but each of them takes it ten instructions, one waiting for the other.
All other ones are written with their quick forms. `scalar_code` asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from numhlo.lowering.ir import Op, Region
from numhlo.lowering.ops import elementwise as ops

EXTREMES = frozenset({ops.MINIMUM, ops.MAXIMUM})


def running_extremes(body: Region) -> Iterator[Op]:
    """Yield the minima and maxima that are a loop's state, where nothing else in it keeps rounds apart."""
    found = []
    for argument, returned in zip(body.arguments, body.returns, strict=False):
        op = returned.owner
        if returned is argument:
            continue
        if not isinstance(op, Op) or argument not in op.operands or op.definition not in (*EXTREMES, ops.ADD):
            return
        found.append(op)
    for op in found:
        if op.definition in EXTREMES:
            yield from _chain(op)


def _chain(op: Op) -> Iterator[Op]:
    """Yield an op and those of its kind that it is put together from."""
    yield op
    for operand in op.operands:
        if isinstance(operand.owner, Op) and operand.owner.definition is op.definition:
            yield from _chain(operand.owner)
