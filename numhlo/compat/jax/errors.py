"""`jax.errors`: JAX's names for what can go wrong while tracing; each is the class that numhlo raises then."""

from numhlo.lowering.ir.errors import ConcretizationError as ConcretizationTypeError
from numhlo.lowering.ir.errors import ConcretizationError as TracerArrayConversionError
from numhlo.lowering.ir.errors import ConcretizationError as TracerBoolConversionError
from numhlo.lowering.ir.errors import ConcretizationError as TracerIntegerConversionError
from numhlo.lowering.ir.errors import DataDependentShapeError as NonConcreteBooleanIndexError
from numhlo.lowering.ir.errors import LeakedTracerError as UnexpectedTracerError

__all__ = [
    "ConcretizationTypeError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
]
