"""`numhlo.numpy.fft`: discrete Fourier transforms, as `numpy.fft` has them."""

from numhlo.tracer.namespace.signals import fourier as _fourier
from numhlo.tracer.namespace.signals import frequencies as _frequencies
from numhlo.tracer.namespace.signals.fourier import *  # noqa: F403
from numhlo.tracer.namespace.signals.frequencies import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

_PUBLIC = {*_fourier.__all__, *_frequencies.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "numpy.fft.{}", __all__)
