"""`numhlo.scipy.signal`: SciPy's convolutions, correlations and filters, traced and outside tracing."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy.signal import convolution as _signals
from numhlo.library.scipy.signal import filters as _filters
from numhlo.library.scipy.signal import short_time as _short_time
from numhlo.library.scipy.signal import spectra as _spectra
from numhlo.library.scipy.signal.convolution import *  # noqa: F403
from numhlo.library.scipy.signal.filters import *  # noqa: F403
from numhlo.library.scipy.signal.short_time import *  # noqa: F403
from numhlo.library.scipy.signal.spectra import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

__all__ = [
    name
    for name in sorted(globals())
    if name in (*_signals.__all__, *_filters.__all__, *_spectra.__all__, *_short_time.__all__)
]
_cite(globals(), "scipy.signal.{}", __all__)
_ADVICE = {
    "sosfiltfilt": "use sosfilt of x, and of its result reversed: sosfilt(sos, y[::-1])[::-1]",
    "oaconvolve": "use fftconvolve",
    **dict.fromkeys(
        ["butter", "cheby1", "cheby2", "ellip", "bessel", "iirfilter", "firwin"], "use SciPy's, and pass it in"
    ),
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
