"""`jax.interpreters`: the rule tables of `Primitive`s."""

from numhlo.compat.jax.late_modules import late as _late

__all__: list[str] = []

__getattr__, __dir__ = _late(__name__, ["ad", "batching", "mlir", "partial_eval", "pxla", "xla"])
