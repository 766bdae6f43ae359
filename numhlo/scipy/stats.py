"""`numhlo.scipy.stats`: SciPy's distributions, traced and outside tracing on the same definitions."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy.stats import by_special_functions as _special
from numhlo.library.scipy.stats import circular as _circular
from numhlo.library.scipy.stats import closed as _closed
from numhlo.library.scipy.stats import density as _density
from numhlo.library.scipy.stats import discrete as _discrete
from numhlo.library.scipy.stats import multivariate as _multivariate
from numhlo.library.scipy.stats import samples as _samples
from numhlo.library.scipy.stats.by_special_functions import *  # noqa: F403
from numhlo.library.scipy.stats.circular import *  # noqa: F403
from numhlo.library.scipy.stats.closed import *  # noqa: F403
from numhlo.library.scipy.stats.density import *  # noqa: F403
from numhlo.library.scipy.stats.discrete import *  # noqa: F403
from numhlo.library.scipy.stats.multivariate import *  # noqa: F403
from numhlo.library.scipy.stats.samples import *  # noqa: F403

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
