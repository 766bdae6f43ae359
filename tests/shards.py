"""Programs of one device, run on a grid of threads: first answers and machine code, with other arguments in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import numhlo
from numhlo.distributed import ProcessGrid, ShardProgram


def check_on_every_call(
    program: ShardProgram, args: Sequence[Any], reference: Callable[..., Any], rtol: float, atol: float = 0.0
) -> None:
    """Run a program several times, and look at all results, at the arguments, and at earlier results.

    Parameters
    ----------
    program : ShardProgram
    args : sequence of pytrees of arrays
    reference : callable
        Gives what is expected of whole arrays.
    rtol, atol : float
    """
    grid, function, earlier = ProcessGrid(partitions=program.partitions), program.module.callable(), []
    others = numhlo.tree.map(_changed, list(args))
    for given in (args, args, others, args):
        before = [np.copy(x) for x in numhlo.tree.leaves(given)]
        found = numhlo.tree.leaves(program.join(grid.run(function, program.split(*given))))
        for mine, other in zip(found, numhlo.tree.leaves(reference(*given)), strict=True):
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=atol, strict=True)
        for x, copy in zip(numhlo.tree.leaves(given), before, strict=True):
            np.testing.assert_array_equal(x, copy)
        earlier += [(x, np.copy(x)) for x in found]
        for one in function.programs.values():
            one.wait()
    for x, copy in earlier:
        np.testing.assert_array_equal(x, copy)


def _changed(x: Any) -> Any:
    """Return another argument: halved floats, other numbers in another order."""
    array = np.asarray(x)
    return array * 0.5 if array.dtype.kind == "f" else array[::-1].copy()
