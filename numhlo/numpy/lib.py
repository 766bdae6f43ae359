"""`numhlo.numpy.lib`: the parts of `numpy.lib` that can be traced."""

from types import SimpleNamespace

from numhlo.tracer.namespace.bits_and_windows import sliding_window_view

stride_tricks = SimpleNamespace(sliding_window_view=sliding_window_view)

__all__ = ["stride_tricks"]
