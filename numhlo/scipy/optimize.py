"""`numhlo.scipy.optimize`: the least value of a smooth function, as JAX has it."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy import optimize as _minimizing
from numhlo.library.scipy.optimize import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

__all__ = [name for name in sorted(globals()) if name in _minimizing.__all__]
_cite(globals(), "jax.scipy.optimize.{}", __all__)
_ADVICE = {
    **dict.fromkeys(
        ["root", "fsolve", "newton", "brentq", "bisect", "root_scalar"], "use lax.custom_root, or Newton's steps"
    ),
    **dict.fromkeys(["least_squares", "curve_fit", "leastsq"], "use minimize of the sum of squares"),
    **dict.fromkeys(["minimize_scalar", "fmin", "fmin_bfgs"], "use minimize"),
    **dict.fromkeys(["linprog", "milp", "linear_sum_assignment"], "use SciPy's outside"),
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
