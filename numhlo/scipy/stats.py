"""`numhlo.scipy.stats`: SciPy's distributions, traced and outside tracing on the same definitions."""

from numhlo.tracer.absent import raise_absent as _raise_absent
from numhlo.tracer.distributions import by_special_functions as _special
from numhlo.tracer.distributions import closed as _closed
from numhlo.tracer.distributions import discrete as _discrete
from numhlo.tracer.distributions import multivariate as _multivariate
from numhlo.tracer.distributions.by_special_functions import *  # noqa: F403
from numhlo.tracer.distributions.closed import *  # noqa: F403
from numhlo.tracer.distributions.discrete import *  # noqa: F403
from numhlo.tracer.distributions.multivariate import *  # noqa: F403

_PUBLIC = {*_special.__all__, *_closed.__all__, *_discrete.__all__, *_multivariate.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_ADVICE = {
    "gaussian_kde": "use the mean of norm.pdf over the points",
    "mode": "use numhlo.numpy.unique with size= and return_counts=",
    "rankdata": "use numhlo.numpy.argsort twice, and add 1",
    "sem": "use numhlo.numpy.std(x, ddof=1) / n ** 0.5",
    "vonmises": "use kappa * (cos(x) - 1) - log(2 pi i0e(kappa)), with numhlo.scipy.special.i0e",
    "wrapcauchy": "write the density with numhlo.numpy: (1 - c ** 2) / (2 pi (1 + c ** 2 - 2 c cos(x)))",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
