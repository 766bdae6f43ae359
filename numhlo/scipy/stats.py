"""`numhlo.scipy.stats`: SciPy's distributions, traced and outside tracing on the same definitions."""

from numhlo.tracer.distributions import by_special_functions as _special
from numhlo.tracer.distributions import circular as _circular
from numhlo.tracer.distributions import closed as _closed
from numhlo.tracer.distributions import density as _density
from numhlo.tracer.distributions import discrete as _discrete
from numhlo.tracer.distributions import multivariate as _multivariate
from numhlo.tracer.distributions import samples as _samples
from numhlo.tracer.distributions.by_special_functions import *  # noqa: F403
from numhlo.tracer.distributions.circular import *  # noqa: F403
from numhlo.tracer.distributions.closed import *  # noqa: F403
from numhlo.tracer.distributions.density import *  # noqa: F403
from numhlo.tracer.distributions.discrete import *  # noqa: F403
from numhlo.tracer.distributions.multivariate import *  # noqa: F403
from numhlo.tracer.distributions.samples import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

_PUBLIC = {
    *_special.__all__,
    *_circular.__all__,
    *_closed.__all__,
    *_discrete.__all__,
    *_multivariate.__all__,
    *_density.__all__,
    *_samples.__all__,
}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "scipy.stats.{}", __all__)
