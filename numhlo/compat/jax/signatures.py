"""How JAX's functions are called where numhlo's of that name are called otherwise: order, names, and further options.

A choice of an algorithm, a device or an accuracy is accepted, and means nothing: here is one of each. Options with a
meaning of their own are in `beyond_numpy`, and beside the functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError

ORDERS: dict[str, dict[str, str]] = {
    "numpy": {
        "concatenate": "arrays / axis dtype",
        "empty_like": "prototype / dtype shape device",
        "full_like": "a fill_value / dtype shape device",
        "histogram": "a bins range / weights density",
        "histogram2d": "x y bins range / weights density",
        "histogramdd": "sample bins range / weights density",
        "ones_like": "a / dtype shape device",
        "zeros_like": "a / dtype shape device",
    },
    "numpy.linalg": {"matrix_rank": "M tol /", "pinv": "a / rtol hermitian"},
    "scipy.linalg": {
        "solve": "a b / lower overwrite_a overwrite_b debug check_finite assume_a",
        "solve_triangular": "a b trans lower unit_diagonal overwrite_b / debug check_finite",
    },
    "scipy.special": {"digamma": "x /", "erf": "x /", "erfinv": "x /", "kl_div": "p q /", "rel_entr": "p q /"},
}
"""By module and function, JAX's parameters in its order: before the stroke those that stand where numhlo's do."""

_CONVOLUTIONS = "convolve convolve2d correlate correlate2d"

WITHOUT_MEANING: dict[str, dict[str, str]] = {
    "numpy": {
        "method": "digitize isin searchsorted",
        "unroll": "polyval",
    },
    "numpy.linalg": {"method": "slogdet", "precision": "multi_dot"},
    "lax": {
        "accuracy": "cbrt cos exp exp2 expm1 log log1p logistic rsqrt sin sqrt tan tanh",
        "_split_transpose": "scan",
    },
    "lax.linalg": {
        "algorithm": "svd",
        "enable_eigvec_derivs": "eig",
        "implementation": "eig eigh",
        "use_magma": "eig qr",
    },
    "nn": {"algorithm": "standardize"},
    "scipy.linalg": {
        "debug": "solve solve_triangular",
        "eps": "polar",
        "max_iterations": "polar",
        "max_squarings": "expm",
        "method": "polar",
        "tol": "eigh_tridiagonal",
        "upper_triangular": "expm",
    },
    "scipy.signal": {"precision": _CONVOLUTIONS},
    "scipy.special": {"series_order": "log_ndtr"},
}
"""By module and option, the functions that take it and do what they do without it."""

UNSET: dict[str, dict[str, str]] = {
    "numpy": {
        "out_sharding": """arange bincount broadcast_to dot einsum empty full matmul ones ravel repeat
            reshape tensordot zeros""",
    },
    "numpy.linalg": {"subset_by_index": "svd"},
    "lax": {
        "out_sharding": """broadcast broadcast_in_dim broadcasted_iota conv_general_dilated dot dot_general empty reduce
            reduce_sum reshape rng_bit_generator""",
        "sharding": "full full_like",
    },
    "lax.linalg": {"subset_by_index": "eigh svd"},
    "nn.initializers": {"out_sharding": "ones zeros"},
    "ops": {"out_sharding": "segment_max segment_min segment_prod segment_sum"},
    "random": {
        "out_sharding": """ball bernoulli beta bits categorical cauchy chisquare dirichlet exponential f gamma
            generalized_normal geometric gumbel laplace loggamma logistic lognormal maxwell multivariate_normal normal
            orthogonal pareto permutation poisson rademacher randint rayleigh t triangular truncated_normal uniform wald
            """,
    },
}
"""By module and option, the functions that take it as None alone."""


def called_as_jax(module: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is called as JAX's of its name.

    Parameters
    ----------
    module : str
        Whose function it is, as ``"numpy.linalg"``.
    name : str
    function : callable
        Itself where JAX's is called as it is.

    Returns
    -------
    callable
    """
    ignored, unset = (
        [option for option, names in table.get(module, {}).items() if name in names.split()]
        for table in (WITHOUT_MEANING, UNSET)
    )
    if ignored or unset:
        function = _without(name, function, ignored, unset)
    order = ORDERS.get(module, {}).get(name)
    return function if order is None else _in_order(name, function, *(part.split() for part in order.split("/")))


def _without(name: str, function: Callable[..., Any], options: list[str], unset: list[str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        for option in options:
            kwargs.pop(option, None)
        for option in unset:
            if kwargs.pop(option, None) is not None:
                raise UnsupportedError(f"{name}({option}=)", where=capture_location(), fix="leave it out")
        return function(*args, **kwargs)

    return public


def _in_order(name: str, function: Callable[..., Any], first: list[str], rest: list[str]) -> Callable[..., Any]:
    """Return a function that takes its first arguments by their place or name, and gives the rest on by name."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        given, further = list(args[: len(first)]), args[len(first) :]
        if len(further) > len(rest):
            limit = len(first) + len(rest)
            raise TypeError(f"{name}() takes at most {limit} positional arguments but {len(args)} were given")
        named = dict(zip(rest, further, strict=False))
        twice = [option for option in named if option in kwargs]
        if twice:
            raise TypeError(f"{name}() got multiple values for argument {twice[0]!r}")
        while len(given) < len(first) and first[len(given)] in kwargs:
            given.append(kwargs.pop(first[len(given)]))
        return function(*given, **named, **kwargs)

    return public
