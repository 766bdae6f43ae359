"""`numhlo.scipy.integrate`: SciPy's integrals of samples, traced and outside tracing on the same definitions."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy.integrate import quadrature as _quadrature
from numhlo.library.scipy.integrate.quadrature import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

__all__ = [name for name in sorted(globals()) if name in _quadrature.__all__]
_cite(globals(), "scipy.integrate.{}", __all__)
_ADVICE = {
    **dict.fromkeys(["cumtrapz"], "use cumulative_trapezoid"),
    **dict.fromkeys(["simps"], "use simpson"),
    **dict.fromkeys(["trapz"], "use trapezoid"),
    **dict.fromkeys(
        ["quad", "quad_vec", "dblquad", "tplquad", "nquad", "fixed_quad", "quadrature", "romberg", "cubature"],
        "use numpy.polynomial.legendre.leggauss nodes and weights: (f(x) * weights).sum()",
    ),
    **dict.fromkeys(
        ["solve_ivp", "odeint", "ode", "solve_bvp", "RK45", "RK23", "DOP853"],
        "use numhlo.compat.jax.experimental.ode.odeint, or lax.scan over the steps",
    ),
    **dict.fromkeys(["romb", "cumulative_simpson", "newton_cotes"], "use simpson, or cumulative_trapezoid"),
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
