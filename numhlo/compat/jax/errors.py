"""`jax.errors`: JAX's names for what can go wrong while tracing: bases of the errors that numhlo raises then."""

from numhlo.lowering.ir.jax_errors import (
    ConcretizationTypeError,
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)

__all__ = [
    "ConcretizationTypeError",
    "JaxRuntimeError",
    "KeyReuseError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
]


class JaxRuntimeError(RuntimeError):
    """A running program failed: a callback of it has raised an error, which is the cause of this one."""


class KeyReuseError(TypeError):
    """A random key was used twice; nothing here looks for that."""
