"""`jax.errors`: JAX's names for what can go wrong while tracing: bases of the errors that numhlo raises then."""

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.lowering.ir.jax_errors import (
    ConcretizationTypeError,
    JAXIndexError,
    JAXTypeError,
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)

__all__ = [
    "ConcretizationTypeError",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
    "KeyReuseError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
]


class JaxRuntimeError(RuntimeError):
    """A running program failed: a callback of it has raised an error, which is the cause of this one."""


class JaxprTypeError(TypeError):
    """The equations of a jaxpr do not fit together."""


class KeyReuseError(JAXTypeError):
    """A random key was used twice; nothing here looks for that."""


__getattr__ = _refusing(__name__)
