"""`jaxlib`: what programs ask of it, its version; there is no XLA behind it."""

from numhlo.compat.jaxlib.version import __version__

__all__ = ["__version__"]
