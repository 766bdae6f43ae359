"""Parameters are NumPy's, SciPy's or JAX's: names, kinds and defaults; each difference is declared, with its reason.

A difference is written as ``+name`` (ours alone has it), ``-name`` (theirs alone), ``~name`` (another kind or default).
That ours takes by keyword what theirs takes by position only is none.
"""

from __future__ import annotations

import enum
import importlib
import inspect

import numpy as np
import pytest

from tests.known_versions import skip_if_newer

NOT_OF_ONE_MACHINE = {"out_sharding", "sharding", "in_shardings", "out_shardings", "spmd_axis_name", "reduce_axes"}
NOT_OF_THIS_COMPILER = {"accuracy", "implementation", "use_magma", "backend", "device", "compiler_options", "algorithm"}
DEPRECATED = {"operand", "concrete", "disp"}
LEFT_OUT = NOT_OF_ONE_MACHINE | NOT_OF_THIS_COMPILER | DEPRECATED
"""Parameters of JAX's (and SciPy's ``disp``) that are about several devices, about XLA, or on their way out."""

STATIC_SIZE = "+fill_value +size"
DECLARED = {
    "static shapes: what NumPy finds by looking at values": {
        "numpy": {
            **dict.fromkeys(
                ["argwhere", "compress", "extract", "flatnonzero", "intersect1d", "nonzero", "setdiff1d"], STATIC_SIZE
            ),
            **dict.fromkeys(
                ["setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse"], STATIC_SIZE
            ),
            **dict.fromkeys(["unique_values"], STATIC_SIZE),
            "bincount": "+length",
            "repeat": "+total_repeat_length",
            "roots": "+strip_zeros",
            "where": "+fill_value +size ~x ~y",  # None is no value that it can choose
        },
    },
    "the same window under a name that older SciPy has, too": {
        "scipy.signal": dict.fromkeys(["coherence", "csd", "istft", "spectrogram", "stft", "welch"], "~window"),
    },
    "arrays that never change: JAX's": {
        "numpy": dict.fromkeys(["copyto", "fill_diagonal", "place", "put", "putmask"], "+inplace"),
    },
    "the Array API standard asks for it": {
        "numpy": {"argsort": "+descending", "sort": "+descending", "expand_dims": "~axis"},
        "numpy.fft": {"fftfreq": "+dtype", "rfftfreq": "+dtype"},
    },
    "NumPy writes down what it takes in another way": {
        "numpy": {
            "arange": "+start -start_or_stop another order ~dtype",
            "einsum": "+dtype +subscripts ~optimize",  # paths are chosen unless asked otherwise, as in JAX
            "einsum_path": "+subscripts",
            "put_along_axis": "+inplace ~axis",  # has the default of take_along_axis
        },
    },
    "its kin take it by position": {"scipy.fft": {"dctn": "another order ~orthogonalize"}},
    "objects can't be traced": {"numpy": {"array": "-ndmax"}},
    "options of ufuncs: clip has none": {"numpy": {"clip": "-**"}},
    "choices of LAPACK's drivers, and of parts of a result: slice it": {
        "scipy.linalg": {
            "eigh": "+** -check_finite -driver -overwrite_a -overwrite_b -subset_by_index -subset_by_value -type",
            "eigh_tridiagonal": "-check_finite -lapack_driver -tol",
            "inv": "-assume_a -lower",
            "schur": "-check_finite -lwork -overwrite_a -sort",
            "sqrtm": "~blocksize",
        },
        "lax.linalg": {
            "eig": "-enable_eigvec_derivs",
            "eigh": "-subset_by_index",
            "schur": "-select_callable -sort_eig_vals",
            "svd": "-subset_by_index",
        },
    },
    "not of one machine, or of JAX's inside": {
        "lax": {"all_gather": "-to", "scan": "-_split_transpose"},
        "": {"device_put": "-donate -may_alias -src"},
        "random": {"key": "-dtype", "wrap_key_data": "-dtype"},
        "debug": {"callback": "-partitioned ~callback", "print": "-_use_logging -partitioned -skip_format_check ~fmt"},
    },
    "not there yet": {
        "lax": {"mul": "-out_dtype"},
        "": {"checkpoint": "-static_argnames"},
    },
    "our own": {
        "": {
            "checking_leaks": "+enabled",
            **dict.fromkeys(["debug_infs", "debug_nans", "log_compiles"], "+enabled -new_val"),
            "jit": "+autograph +check +in_layouts +out_layouts +tier0 ~fun",
            "vmap": "+chunk -sum_match",
        },
        "lax": {"pcast": "~axis_name ~to"},
        "debug": {"breakpoint": "-** -filter_frames -num_frames -token"},
    },
}
"""Differences by reason, module and function."""

MODULES = {
    "numpy": "numpy", "numpy.linalg": "numpy.linalg", "numpy.fft": "numpy.fft", "scipy.linalg": "scipy.linalg",
    **{f"scipy.{name}": f"scipy.{name}" for name in ("fft", "integrate", "ndimage", "signal")},
    "lax": "jax.lax", "lax.linalg": "jax.lax.linalg", "random": "jax.random", "nn": "jax.nn",
    "nn.initializers": "jax.nn.initializers", "tree_util": "jax.tree_util", "tree": "jax.tree", "ops": "jax.ops",
    "flatten_util": "jax.flatten_util", "debug": "jax.debug", "": "jax",
}  # fmt: skip


def parameters(function):
    """Return parameters by name; what takes any number of them is known by its stars."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return {stars.get(p.kind, p.name): p for p in inspect.signature(function).parameters.values()}


def comparable(parameter):
    """Return a default as something that can be compared: sentinels are one, numbers are numbers, dtypes their names."""
    default = parameter.default
    if default is inspect.Parameter.empty or default is None:
        return default
    if isinstance(default, enum.Enum):
        return default.name
    if isinstance(default, bool | str | tuple):
        return default
    if isinstance(default, int | float | np.generic):
        return float(default)
    return getattr(default, "__name__", "a sentinel")


def difference(ours, theirs, ignored=frozenset()):
    """Return how our parameters differ from theirs, in words; empty where they don't."""
    mine, other = parameters(ours), {k: p for k, p in parameters(theirs).items() if k not in ignored}
    mine = {k: p for k, p in mine.items() if k in other or k not in ignored}
    found = [f"-{name}" for name in other if name not in mine] + [f"+{name}" for name in mine if name not in other]
    for name in mine.keys() & other.keys():
        kinds = mine[name].kind, other[name].kind
        stricter = kinds[0] != kinds[1] and kinds[1] is not inspect.Parameter.POSITIONAL_ONLY
        if stricter or comparable(mine[name]) != comparable(other[name]):
            found.append(f"~{name}")
    common = [[k for k in side if k in mine and k in other and side[k].kind.value < 2] for side in (mine, other)]
    if common[0] != common[1]:
        found.append("another order")
    return " ".join(sorted(found))


def functions_of_both(module):
    ours, theirs = importlib.import_module(f"numhlo.{module}".rstrip(".")), importlib.import_module(MODULES[module])
    for name in ours.__all__:
        pair = getattr(ours, name), getattr(theirs, name, None)
        if callable(pair[0]) and pair[1] is not None and not isinstance(pair[0], type):
            try:
                parameters(pair[1])
            except (TypeError, ValueError):  # written in C, without a signature
                continue
            yield name, *pair


def declared(module):
    return {name: text for groups in DECLARED.values() for name, text in groups.get(module, {}).items()}


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="older ones don't tell their signatures")
@pytest.mark.parametrize("module", MODULES)
def test_signatures(module):
    skip_if_newer(MODULES[module].partition(".")[0])
    ignored = frozenset() if module.startswith("numpy") else LEFT_OUT
    found = {name: difference(ours, theirs, ignored) for name, ours, theirs in functions_of_both(module)}
    assert len(found) > 1 or module == "flatten_util"
    assert {name: text for name, text in found.items() if text} == declared(module)


@pytest.mark.oracle("scipy>=1.15")
def test_special_functions_take_as_many_operands_as_scipys():
    skip_if_newer("scipy")
    ours, theirs = importlib.import_module("numhlo.scipy.special"), importlib.import_module("scipy.special")
    wrong = []
    for name in ours.__all__:
        function = getattr(theirs, name)
        mine = [p for p in parameters(getattr(ours, name)).values() if p.default is inspect.Parameter.empty]
        if isinstance(function, np.ufunc):
            wrong += [] if len(mine) == function.nin else [name]
        else:
            text = difference(getattr(ours, name), function)
            wrong += [f"{name}: {text}"] if text else []
    assert wrong == ["logsumexp: +where", "zeta: -out"]  # JAX's; results are new arrays


def test_sentinels_and_orders_are_seen():
    def f(a, b=1, *, c=None): ...
    def g(b, a=1, *, c=0, d): ...

    assert difference(f, g) == "-d another order ~a ~b ~c" and difference(f, f) == ""
    assert difference(lambda x, /: x, lambda x: x) == "~x" and difference(lambda x: x, lambda x, /: x) == ""
