"""`numhlo.scipy.interpolate`: functions known at the points of a grid, traced and outside tracing."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy import interpolate as _grids
from numhlo.library.scipy.interpolate import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

__all__ = [name for name in sorted(globals()) if name in _grids.__all__]
_cite(globals(), "scipy.interpolate.{}", __all__)
_ADVICE = {
    "interp1d": "use numhlo.numpy.interp, or RegularGridInterpolator((x,), y)",
    "interpn": "use RegularGridInterpolator(points, values)(xi)",
    **dict.fromkeys(
        ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "UnivariateSpline", "make_interp_spline"],
        "find the coefficients with SciPy outside, and evaluate them by numhlo.numpy.searchsorted and polyval",
    ),
    **dict.fromkeys(["griddata", "RBFInterpolator", "Rbf"], "use numhlo.numpy.linalg.solve of the kernel's matrix"),
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
