"""`jax._src.compiler`: XLA's compiler, of which nothing is here."""

from numhlo.compat.jax.late_modules import late as _late

__all__: list[str] = []

__getattr__, __dir__ = _late(__name__, ())
