"""`numhlo.random`: random numbers from keys, under JAX's names and with JAX's bits."""

from numhlo.tracer.sampling import continuous as _continuous
from numhlo.tracer.sampling import counts as _counts
from numhlo.tracer.sampling import discrete as _discrete
from numhlo.tracer.sampling import keys as _keys
from numhlo.tracer.sampling import rejection as _rejection
from numhlo.tracer.sampling.continuous import *  # noqa: F403
from numhlo.tracer.sampling.counts import *  # noqa: F403
from numhlo.tracer.sampling.discrete import *  # noqa: F403
from numhlo.tracer.sampling.keys import *  # noqa: F403
from numhlo.tracer.sampling.rejection import *  # noqa: F403

_PUBLIC = {*_continuous.__all__, *_counts.__all__, *_discrete.__all__, *_keys.__all__, *_rejection.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
