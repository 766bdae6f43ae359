"""`jax.lib`: the version of JAX whose names and rules these are; XLA's own interface is not here."""

from numhlo.compat.jax.late_modules import late as _late
from numhlo.compat.jaxlib.version import __version__ as __version__

__all__ = ["__version__"]

_XLA = "programs run without XLA"

__getattr__, __dir__ = _late(
    __name__, (), advice={"xla_bridge": _XLA, "xla_client": _XLA, "xla_extension": _XLA}, own=__all__
)
