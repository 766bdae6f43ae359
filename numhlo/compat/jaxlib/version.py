"""`jaxlib.version`: the version of JAX whose names and rules these are."""

__all__ = ["__version__"]

__version__ = "0.10.2"
