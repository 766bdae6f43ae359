"""What JAX calls errors of tracing: bases of numhlo's own, so that programs written for JAX catch them by its names."""


class ConcretizationTypeError(TypeError):
    """A value is needed that is not known while tracing."""


class TracerBoolConversionError(ConcretizationTypeError):
    """The truth value of a traced array is needed."""


class TracerIntegerConversionError(TypeError):
    """A traced array is used where Python needs an integer."""


class TracerArrayConversionError(TypeError):
    """A traced array is used where NumPy needs an array."""


class NonConcreteBooleanIndexError(IndexError):
    """The extent of what an index selects is not known while tracing."""


class UnexpectedTracerError(TypeError):
    """A traced array outlived its trace."""
