"""`jax.interpreters.pxla`: nothing of it is here, since there is one device."""

from numhlo.compat.jax.late_modules import late as _late

__all__: list[str] = []

__getattr__, __dir__ = _late(__name__, ())
