"""`numhlo.numpy.lib`: the parts of `numpy.lib` that can be traced."""

from types import SimpleNamespace

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library.numpy.bits_and_windows import sliding_window_view
from numhlo.library.numpy.indexing.strided_views import as_strided

stride_tricks = SimpleNamespace(as_strided=as_strided, sliding_window_view=sliding_window_view)

__all__ = ["stride_tricks"]
