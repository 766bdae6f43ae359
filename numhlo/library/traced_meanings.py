"""Functions in traced code that say what an op of some types and attributes means in other ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Function, TensorType, capture_location
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops.implementations import hashable
from numhlo.tracer.building import asarray, outside_traces, run_traced, trace_closed

MOST_KEPT = 512
"""Functions that are kept of one meaning, by types and attributes."""


class TracedMeaning:
    """A function on arrays, traced for the types and attributes of an op.

    Parameters
    ----------
    name : str
        The op's, for messages.
    function : callable
        ``function(*arrays, **attributes)`` returns an array, or as many as the op has results.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function
        self._made: dict[Any, Function] = {}

    def __call__(self, types: Sequence[TensorType], attributes: Mapping[str, Any]) -> Function:
        """Return the function that an op with operands of some types means."""
        key = tuple(types), hashable(attributes)
        found = self._made.get(key)
        if found is None:
            while len(self._made) >= MOST_KEPT:
                self._made.pop(next(iter(self._made)), None)
            found = self._made[key] = self._trace(types, attributes)
        return found

    def _trace(self, types: Sequence[TensorType], attributes: Mapping[str, Any]) -> Function:
        def body(*arrays: Any) -> list[Any]:
            found = run_traced(self.function, *arrays, **attributes)
            return [asarray(x) for x in (found if isinstance(found, tuple | list) else [found])]

        with outside_traces():
            return trace_closed(self.name.rpartition(".")[2], body, types)

    def of_results(
        self, types: Sequence[TensorType], attributes: Mapping[str, Any], results: Sequence[TensorType]
    ) -> Function:
        """Return the function, which must give results of some types."""
        function = self(types, attributes)
        given = list(function.result_types)
        if given != list(results):
            raise ArgumentError(
                f"what replaces {self.name} returns ({', '.join(map(str, given))})",
                where=capture_location(),
                why=f"the composite has {counted(len(results), 'result')}: ({', '.join(map(str, results))})",
                fix="return arrays of these shapes and dtypes",
            )
        return function
