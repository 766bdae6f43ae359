"""`numhlo.ops`: reductions within segments, under JAX's names."""

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library.citations import cite as _cite
from numhlo.library.lax.segments import *  # noqa: F403
from numhlo.library.lax.segments import __all__ as __all__

_cite(globals(), "jax.ops.{}", __all__)
