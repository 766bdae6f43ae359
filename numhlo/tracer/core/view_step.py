"""What a step of a view must be able to do; `views` has the steps."""

from __future__ import annotations

from typing import Any, Protocol

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops.strides import Strides


class ViewStep(Protocol):
    """One invertible step of a view: a slice, a transpose, a reshape, ...; traced offsets are listed in ``starts``."""

    def result_type(self, type: TensorType) -> TensorType:
        """Return the type of the step's result for a base of ``type``."""
        ...

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides in memory that the step makes of those of a base of type ``base``."""
        ...

    def get(self, base: Any) -> Any:
        """Return the step applied to ``base`` as a fresh array."""
        ...

    def put(self, base: Any, value: Any) -> Any:
        """Return ``base`` with the part that the step shows replaced by ``value``, as a fresh array."""
        ...
