"""`jax.extend`: what libraries that extend JAX use of it."""

from numhlo.compat.jax.late_modules import late as _late

__all__: list[str] = []

__getattr__, __dir__ = _late(
    __name__,
    ["backend", "core", "linear_util", "source_info_util"],
    advice={
        "ffi": "native functions are called by numhlo.kernel, Python's by pure_callback",
        "mlir": "programs are built without MLIR; jax.export writes StableHLO",
        "xla": "programs run without XLA",
    },
)
