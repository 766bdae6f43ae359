"""Functions copied with something else in place of what they hold, each once, however many call it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from numhlo.lowering.ir import Function


class FunctionCopies(ABC):
    """The copies of functions that have been made."""

    def __init__(self) -> None:
        self._functions: dict[Function, Function] = {}

    def function(self, source: Function) -> Function:
        """Return the copy of a function; ``source`` itself where nothing is to be done to it."""
        if source not in self._functions:
            for function in source.reached():  # callees first: deep chains of calls are no deep recursion
                if function not in self._functions:
                    self._functions[function] = self._copy(function)
        return self._functions[source]

    @abstractmethod
    def _copy(self, source: Function) -> Function:
        """Return the copy of a function whose callees have been copied."""
