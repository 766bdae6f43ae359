"""`numhlo.scipy.fft`: SciPy's cosine and sine transforms, traced and outside tracing on the same definitions."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy import fft as _transforms
from numhlo.library.scipy.fft import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

__all__ = [name for name in sorted(globals()) if name in _transforms.__all__]
_cite(globals(), "scipy.fft.{}", __all__)
_NUMPYS = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
_ADVICE = {
    **{name: f"use numhlo.numpy.fft.{name}" for name in _NUMPYS},
    **dict.fromkeys(["hfft2", "hfftn", "ihfft2", "ihfftn"], "use numhlo.numpy.fft.fftn of the whole signal"),
    **dict.fromkeys(["fht", "fhtoffset", "ifht"], "multiply in the space of numhlo.numpy.fft.rfft"),
    **dict.fromkeys(["get_workers", "set_workers"], "leave it out: kernels run with their own threads"),
    **dict.fromkeys(["next_fast_len", "prev_fast_len"], "use SciPy's: lengths are known while tracing"),
    **dict.fromkeys(["register_backend", "set_backend", "set_global_backend", "skip_backend"], "leave it out"),
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
