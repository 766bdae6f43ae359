"""`jax.version`: the version of JAX whose names and rules these are; numhlo's own is `numhlo.__version__`."""

from numhlo.compat.jaxlib.version import __version__

__all__ = ["__version__", "__version_info__"]

__version_info__ = (0, 10, 2)
