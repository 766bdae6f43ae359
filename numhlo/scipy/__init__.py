"""`numhlo.scipy`: the parts of SciPy that can be traced."""

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library.unsupported_names import raise_absent as _raise_absent
from numhlo.scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, special, stats

__all__ = ["fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats"]
_ADVICE = {
    "cluster": "use lax.fori_loop over numhlo.numpy",
    "spatial": "use broadcasting and numhlo.numpy.linalg.norm",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
