"""`numhlo.scipy.ndimage`: SciPy's filters of images, traced and outside tracing on the same definitions."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy.ndimage import binary_morphology as _morphology
from numhlo.library.scipy.ndimage import correlation as _windows
from numhlo.library.scipy.ndimage import grey_morphology as _grey
from numhlo.library.scipy.ndimage import interpolation as _interpolation
from numhlo.library.scipy.ndimage import rank_filters as _ranks
from numhlo.library.scipy.ndimage import smoothing as _filters
from numhlo.library.scipy.ndimage.binary_morphology import *  # noqa: F403
from numhlo.library.scipy.ndimage.correlation import *  # noqa: F403
from numhlo.library.scipy.ndimage.grey_morphology import *  # noqa: F403
from numhlo.library.scipy.ndimage.interpolation import *  # noqa: F403
from numhlo.library.scipy.ndimage.rank_filters import *  # noqa: F403
from numhlo.library.scipy.ndimage.smoothing import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

_MODULES = (_filters, _grey, _interpolation, _morphology, _ranks, _windows)
__all__ = [name for name in sorted(globals()) if any(name in module.__all__ for module in _MODULES)]
_cite(globals(), "scipy.ndimage.{}", __all__)
_WINDOWS = "use numpy.lib.stride_tricks.sliding_window_view of numpy.pad(x, k, 'symmetric'), and reduce the windows"
_ADVICE = {
    **dict.fromkeys(["generic_filter", "generic_filter1d"], _WINDOWS),
    **dict.fromkeys(["shift", "zoom", "rotate", "affine_transform"], "use map_coordinates(x, coordinates, order=1)"),
    **dict.fromkeys(["label", "find_objects", "watershed_ift"], "use SciPy's through numhlo.pure_callback"),
    **dict.fromkeys(["sum", "mean", "maximum", "minimum", "center_of_mass"], "use numhlo.ops.segment_sum and its kin"),
    **dict.fromkeys(["variance", "standard_deviation", "median", "extrema", "histogram"], "use SciPy's outside"),
    "spline_filter": "use map_coordinates with order=1, which needs none",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
