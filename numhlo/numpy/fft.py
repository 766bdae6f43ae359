"""`numhlo.numpy.fft`: discrete Fourier transforms, as `numpy.fft` has them."""

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library.citations import cite as _cite
from numhlo.library.numpy.fft import fourier as _fourier
from numhlo.library.numpy.fft import frequencies as _frequencies
from numhlo.library.numpy.fft.fourier import *  # noqa: F403
from numhlo.library.numpy.fft.frequencies import *  # noqa: F403

_PUBLIC = {*_fourier.__all__, *_frequencies.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "numpy.fft.{}", __all__)
