"""`numhlo.scipy.signal`: SciPy's convolutions and correlations, traced and outside tracing on the same definitions."""

from numhlo.tracer.absent import raise_absent as _raise_absent
from numhlo.tracer.namespace import signals as _signals
from numhlo.tracer.namespace.signals import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

__all__ = [name for name in sorted(globals()) if name in _signals.__all__]
_cite(globals(), "scipy.signal.{}", __all__)
_SPECTRA = "use numhlo.numpy.fft.rfft of windows: numpy.lib.stride_tricks.sliding_window_view(x, n)[::step] * window"
_ADVICE = {
    "detrend": "subtract the mean, or numhlo.numpy.polyval(numhlo.numpy.polyfit(t, x, 1), t)",
    **dict.fromkeys(["csd", "istft", "periodogram", "spectrogram", "stft", "welch"], _SPECTRA),
    **dict.fromkeys(["lfilter", "sosfilt", "filtfilt"], "use numhlo.lax.scan over the samples"),
    "oaconvolve": "use fftconvolve",
    "hilbert": "use numhlo.numpy.fft.fft, and clear the negative frequencies",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
