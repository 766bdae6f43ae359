"""`numhlo.numpy.fft`: discrete Fourier transforms, as `numpy.fft` has them."""

from numhlo.tracer.namespace.fourier import *  # noqa: F403
from numhlo.tracer.namespace.fourier import __all__ as __all__
