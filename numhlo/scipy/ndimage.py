"""`numhlo.scipy.ndimage`: SciPy's filters of images, traced and outside tracing on the same definitions."""

from numhlo.tracer.absent import raise_absent as _raise_absent
from numhlo.tracer.scientific import grid_interpolation as _interpolation
from numhlo.tracer.scientific import image_filters as _filters
from numhlo.tracer.scientific import image_grey as _grey
from numhlo.tracer.scientific import image_morphology as _morphology
from numhlo.tracer.scientific import image_ranks as _ranks
from numhlo.tracer.scientific import image_windows as _windows
from numhlo.tracer.scientific.grid_interpolation import *  # noqa: F403
from numhlo.tracer.scientific.image_filters import *  # noqa: F403
from numhlo.tracer.scientific.image_grey import *  # noqa: F403
from numhlo.tracer.scientific.image_morphology import *  # noqa: F403
from numhlo.tracer.scientific.image_ranks import *  # noqa: F403
from numhlo.tracer.scientific.image_windows import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

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
