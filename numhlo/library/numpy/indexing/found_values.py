"""Elements whose number is known when a function has run, of functions that find them: unique and trim_zeros.

They are selections of an array that has them all, so that what `selected` can compute of a selection goes for them.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing.brackets import masked_values
from numhlo.library.numpy.indexing.selected import Selected
from numhlo.library.numpy.joining import concatenate
from numhlo.lowering.ir import Location, capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.tracer.building import FUNCTIONS, Tracer, as_traced, full_of


class Found(Selected):
    """What a function finds in an array.

    Attributes
    ----------
    name : str
        The function's.
    """

    name = ""

    def refuse(self, where: Location | None = None) -> NoReturn:
        """Raise the error for what needs the number of elements."""
        fix = f"write numhlo.numpy.{self.name}(..., size=n), and fill_value= for what is left"
        raise DataDependentShapeError(
            f"{self.name} of a traced array",
            where=where or capture_location(),
            why="the number of results is not known while tracing",
            fix=fix if self.name == "unique" else "return it, or use where with a mask on the whole array",
        )

    def with_values(self, values: Any) -> Found:
        """Return other values, as many."""
        return found(self.name, as_traced(values), self.mask)


def found(name: str, values: Tracer, mask: Any) -> Found:
    """Return the elements that a function has found, as those of an array where a mask holds."""
    chosen = Found(values, as_traced(mask), masked_values)
    chosen.name = name
    return chosen


def distinct(flat: Tracer, equal_nan: bool) -> Found:
    """Return the sorted distinct elements of a line of at least one."""
    line: Any = as_traced(FUNCTIONS[np.sort](flat))
    changed = ufuncs.not_equal(line[1:], line[:-1])
    if equal_nan and flat.dtype.kind in "fc":
        both_nan = ufuncs.logical_and(ufuncs.isnan(line[1:]), ufuncs.isnan(line[:-1]))
        changed = ufuncs.logical_and(changed, ufuncs.logical_not(both_nan))
    return found("unique", line, concatenate([full_of(True, (1,), bool), changed], 0))


def trimmed(line: Any, trim: str) -> Found:
    """Return the elements between the zeros at the ends of a line."""
    kept: Any = full_of(True, line.shape, bool)
    is_other = as_traced(ufuncs.not_equal(line, 0))
    if "f" in trim.lower():
        kept = ufuncs.logical_and(kept, ufuncs.greater(cumsum(is_other), 0))
    if "b" in trim.lower():
        behind = cumsum(is_other[::-1])[::-1]  # type: ignore[index]
        kept = ufuncs.logical_and(kept, ufuncs.greater(behind, 0))
    return found("trim_zeros", line, kept)
