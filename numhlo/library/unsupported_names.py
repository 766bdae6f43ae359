"""Names that a module lacks: an error that says what to write instead, so that `hasattr` stays honest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

FIXED_DTYPES = "dtypes are 64 bits by default, and NumPy's rules hold; ask for float32 by dtype="

NOT_OF_JAX: Mapping[str, str] = {
    **dict.fromkeys(
        ["pmap", "shard_map", "smap", "make_mesh", "set_mesh", "sharding", "NamedSharding", "P", "reshard"],
        "use vmap, or numhlo.distributed.shard_map over a mesh of devices",
    ),
    **dict.fromkeys(
        [
            "Device",
            "devices",
            "local_devices",
            "device_count",
            "local_device_count",
            "default_backend",
            "default_device",
            "process_count",
            "process_index",
        ],
        "leave it out, there is one device; numhlo.compat.jax has what programs ask for",
    ),
    **dict.fromkeys(["Ref", "new_ref", "empty_ref", "free_ref", "freeze"], "assign into arrays, or use x.at[]"),
    **dict.fromkeys(["enable_x64", "default_matmul_precision", "numpy_dtype_promotion"], FIXED_DTYPES),
    **dict.fromkeys(["config", "check_tracer_leaks", "explain_cache_misses"], "use numhlo.debugging and its kin"),
    "numpy_rank_promotion": "reshape before you combine arrays",
    "make_jaxpr": "use jit(f).trace(...).as_text()",
    "effects_barrier": "leave it out: calls return when they are done",
    "transfer_guard": "leave it out: there is one memory",
    "float0": "integers have no tangents; zeros stand for them",
    "image": "use numhlo.compat.jax.image, or numhlo.numpy.interp along each axis",
    "profiler": "use debugging(time=True), or a profiler of Python's",
}
"""JAX's names that mean nothing here, and what to do instead."""

_FROM_KEYS = "make a key, key(seed), and split it: every draw takes one, and the same key gives the same numbers"
_BY_NUMPY = "draw with NumPy outside, and pass the numbers in as an argument"
_DRAWN_BY = {
    "integers": "randint", "rand": "uniform", "randn": "normal", "random": "uniform", "random_integers": "randint",
    "random_sample": "uniform", "ranf": "uniform", "sample": "uniform", "standard_cauchy": "cauchy",
    "standard_exponential": "exponential", "standard_gamma": "gamma", "standard_normal": "normal",
    "standard_t": "t", "weibull": "weibull_min", "bytes": "bits",
}  # fmt: skip
NOT_OF_KEYS: Mapping[str, str] = {
    **dict.fromkeys(
        ["BitGenerator", "Generator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "RandomState"], _FROM_KEYS
    ),
    **dict.fromkeys(["RandomState", "SFC64", "SeedSequence", "bit_generator", "default_rng"], _FROM_KEYS),
    **dict.fromkeys(["mtrand", "seed", "spawn"], _FROM_KEYS),
    **dict.fromkeys(
        ["get_state", "set_state", "get_bit_generator", "set_bit_generator"], "keep the key: it is the state"
    ),
    **{name: f"use {own}(key, ...)" for name, own in _DRAWN_BY.items()},
    **dict.fromkeys(["shuffle", "permuted"], "use permutation(key, x), which returns the shuffled array"),
    **dict.fromkeys(["hypergeometric", "multivariate_hypergeometric", "logseries", "zipf", "vonmises"], _BY_NUMPY),
    "negative_binomial": "use poisson(key, gamma(other_key, n) * (1 - p) / p)",
    "noncentral_chisquare": "use chisquare(key, df - 1) + (normal(other_key) + sqrt(nonc)) ** 2",
    "noncentral_f": _BY_NUMPY,
    "power": "use uniform(key, shape) ** (1 / a)",
    "test": "it is about NumPy itself: use NumPy's",
}
"""Names of `numpy.random` that `numhlo.random` lacks, and what to write instead."""


def raise_absent(module: str, name: str, advice: Mapping[str, str]) -> NoReturn:
    """Raise the `AttributeError` for a name that a module lacks.

    Parameters
    ----------
    module, name : str
    advice : mapping
        What to write instead, by name.

    Examples
    --------
    >>> raise_absent("numhlo", "pmap", {"pmap": "use vmap"})
    Traceback (most recent call last):
    ...
    AttributeError: module 'numhlo' has no attribute 'pmap'; use vmap
    """
    found = f"; {advice[name]}" if name in advice else ""
    raise AttributeError(f"module {module!r} has no attribute {name!r}{found}", name=name)
