"""What JAX calls errors of tracing: bases of numhlo's own, so that programs written for JAX catch them by its names."""


class JAXTypeError(TypeError):
    """A traced array is used as what it is not."""


class JAXIndexError(IndexError):
    """A traced array is an index that it is not able to be."""


class ConcretizationTypeError(JAXTypeError):
    """A value is needed that is not known while tracing."""


class TracerBoolConversionError(ConcretizationTypeError):
    """The truth value of a traced array is needed."""


class TracerIntegerConversionError(JAXTypeError):
    """A traced array is used where Python needs an integer."""


class TracerArrayConversionError(JAXTypeError):
    """A traced array is used where NumPy needs an array."""


class NonConcreteBooleanIndexError(JAXIndexError):
    """The extent of what an index selects is not known while tracing."""


class UnexpectedTracerError(JAXTypeError):
    """A traced array outlived its trace."""
