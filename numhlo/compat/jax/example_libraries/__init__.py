"""`jax.example_libraries`: small optimizers and layers."""

from numhlo.compat.jax.late_modules import late as _late

__all__: list[str] = []

__getattr__, __dir__ = _late(__name__, ["optimizers", "stax"])
