"""JAX's names that are not here, and why: by module and name, with patterns for kinds of names.

A module's own advice comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any, NoReturn

from numhlo.compat.jax.substitution import why_refused
from numhlo.library import unsupported_names

PACKAGE = "numhlo.compat.jax"

_HELPER = "it is a helper of JAX's own code, which functools, itertools or jax.tree has, too"
_ONE_DEVICE = "there is one device"
_ONE_PROCESS = "there is one process"
_MLIR = "programs are built without MLIR; lower a primitive with mlir.lower_fun"
_TRACES = "derivatives and lanes are taken of whole programs, once they are traced; read a jaxpr instead"
_COLLECTIVE = "named axes are axes of arrays here: call the function of that name, which is traced as what it means"
_KEYS = "draws are traced as the arithmetic that they are: call the function of jax.random"
_MATRIX = "call the function of lax.linalg: it is traced as several operations, or as one of LAPACK's"
_OPERATION = "call the function of lax: it is traced as other operations, whose equations make_jaxpr shows"
_REFERENCES = "references are resolved while tracing; use jax.ref"
_HOST = "values live in one memory"
_SWITCH = "no result depends on it; leave it out"
_SHAPES = "shapes are known here: export a program for each"
_INTERNAL = "it is a part of JAX's own machinery"

REASONS: Mapping[str, Mapping[str, str]] = {
    "": {
        "ad": "see jax.interpreters.ad",
        "ds": "use slices, or lax.dynamic_slice",
        "live_arrays": "arrays lie in NumPy's memory, which Python frees; nobody lists them",
        "make_array_from_*": _ONE_DEVICE + ": use jnp.asarray",
        "make_user_context": "give what a program depends on as an argument, static or not",
        "memory": _HOST,
        "smap": "use vmap: there is one machine, with threads in kernels",
    },
    "ad_checkpoint": {"*": "checkpoint_policies are functions here: they say whether a value is kept"},
    "api_util": {"donation_vector": "arrays are donated by jit alone"},
    "custom_derivatives": {
        "custom_vjp_primal_tree_values": "custom_vjp's rule is given values as they are",
        "linear_call": "use custom_vjp, or lax.custom_linear_solve",
        "remat_opt_p": "checkpoint is traced as a composite; its primitive is remat_p",
    },
    "debug": {
        "*DebugEffect": "callbacks run in their order; effects are not told apart",
        "*sharding": _ONE_DEVICE,
        "inspect_*": _ONE_DEVICE,
        "visualize_*": _ONE_DEVICE,
    },
    "distributed": {"*": _ONE_PROCESS},
    "errors": {"InconclusiveDimensionOperation": _SHAPES},
    "example_libraries.optimizers": dict.fromkeys(("map", "safe_map", "safe_zip", "unzip2", "zip"), _HELPER),
    "experimental": {
        "EArray": "arrays of extended dtypes are those of jax.random.key",
        "cur_qdd": "there are no quasi-dynamic data",
        "primal_tangent_dtype": "tangents have their primal's dtype",
    },
    "experimental.hijax": {"*": _INTERNAL},
    "experimental.jet": {
        "Jet*": _TRACES,
        "*": "jet takes forward derivatives of forward derivatives: it has no rules of its own",
    },
    "experimental.layout": {"with_layout_constraint": "arrays lie in memory as NumPy has them"},
    "experimental.mesh_utils": {"*": _ONE_DEVICE},
    "experimental.multihost_utils": {"*": _ONE_PROCESS},
    "experimental.ode": {"*": "it is a step of JAX's own odeint: call odeint"},
    "export": {
        "DisabledSafetyCheck": "exported programs call nothing outside of them",
        "*calling_convention_version": "there is one calling convention",
        "register_*": "trees are written by their own leaves",
        "SymbolicScope": _SHAPES,
        "*symbolic*": _SHAPES,
    },
    "extend.backend": {"*": "programs run without XLA: there are no backends"},
    "extend.core": {
        "CallPrimitive": "use Primitive",
        "DebugInfo": "see jax.api_util.debug_info",
        "InconclusiveDimensionOperation": _SHAPES,
        "Token": "see lax.create_token",
        "gensym": "variables are numbered when they are printed",
        "*_DO_NOT_USE": _TRACES,
        "*": _INTERNAL,
    },
    "extend.linear_util": {"merge_linear_aux": _INTERNAL},
    "extend.source_info_util": {"*": "places in programs are kept by the tracer: use jax.named_scope"},
    "interpreters.ad": {
        "JVPTrace": _TRACES,
        "add_jaxvals*": "use +",
        "get_primitive_transpose": "see primitive_transposes",
        "jvp": "use jax.jvp",
        "linearize": "use jax.linearize",
    },
    "interpreters.batching": {"defreducer": "see fancy_primitive_batchers", "*register_vmappable": "register a pytree"},
    "interpreters.mlir": {"*": _MLIR},
    "interpreters.partial_eval": {"*": "programs are split and pruned as graphs: see dce_jaxpr"},
    "interpreters.pxla": {"*": "programs run without XLA"},
    "interpreters.xla": {"*": "programs run without XLA"},
    "jax.ref": {"*": _REFERENCES},
    "lax": {
        "pbroadcast": _COLLECTIVE,
        "precv": _ONE_DEVICE,
        "psend": _ONE_DEVICE,
        "ragged_all_to_all": _ONE_DEVICE,
        "random_gamma_grad": "use numhlo.random.gamma; its samples have no derivative",
    },
    "lax.linalg": {},
    "nn": {
        "get_scaled_dot_general_config": "it is for accelerators: use nn.scaled_matmul",
        "scaled_dot_general": "it is for accelerators: use lax.scaled_dot",
    },
    "profiler": {"*": "profiles are those of numhlo.debugging: times of kernels"},
    "random": {},
    "sharding": {"*": _ONE_DEVICE},
    "stages": {"ArgInfo": "arguments are told of by ShapeDtypeStruct"},
    "tree_util": {"default_registry": "the registry is that of tree_util.register_pytree_node"},
}
"""By module and pattern, of which the first that fits counts; some modules are not here but for a few names."""

PRIMITIVES: Mapping[str, str] = {
    **dict.fromkeys(
        ("all_gather_p", "all_to_all_p", "axis_index_p", "device_put_p", "pmax_p", "pmin_p", "ppermute_p", "psum_p",
         "ragged_all_to_all_p", "sharding_constraint_p"),
        _COLLECTIVE,
    ),
    **dict.fromkeys(("random_*_p", "rng_*_p", "threefry2x32_p"), _KEYS),
    **dict.fromkeys(("get_p", "swap_p", "empty2_p"), _REFERENCES),
    **dict.fromkeys(
        ("cholesky_update_p", "eig_p", "eigh_p", "hessenberg_p", "householder_product_p", "lu_p", "ormqr_p",
         "lu_pivots_to_permutation_p", "qr_p", "schur_p", "svd_p", "symmetric_product_p", "tridiagonal_p",
         "tridiagonal_solve_p"),
        _MATRIX,
    ),
    "add_jaxvals_p": "use add_p",
    "after_all_p": "tokens order nothing here: effects happen in their order",
    "create_token_p": "tokens order nothing here: effects happen in their order",
    "custom_lin_p": _TRACES,
    "*_p": _OPERATION,
}  # fmt: skip
"""By pattern, why primitives are not here: in `lax`, `lax.linalg`, `random` and `extend.core.primitives`."""

_OF_PRIMITIVES = ("lax", "lax.linalg", "random", "extend.core.primitives")


def _first(reasons: Mapping[str, str], name: str) -> str:
    return next((why for pattern, why in reasons.items() if fnmatchcase(name, pattern)), "")


def why_absent(module: str, name: str) -> str:
    """Return why a name of JAX's is not here; empty where it is, or is none of JAX's.

    Parameters
    ----------
    module : str
        With the package's name in front of it, numhlo's own or this one's.
    name : str

    Examples
    --------
    >>> why_absent("numhlo.compat.jax.lax", "psum_p")[:16]
    'named axes are a'
    """
    if name.startswith("__"):
        return ""
    short = module.removeprefix(PACKAGE).removeprefix(".")
    if why := _first(REASONS.get(short, {}), name):
        return why
    if short in _OF_PRIMITIVES:
        return _first(PRIMITIVES, name)
    return why_refused(".".join(["jax", *([short] if short else []), name]))


def raise_absent(module: str, name: str, advice: Mapping[str, str] | None = None) -> NoReturn:
    """Raise the `AttributeError` for a name that a module lacks.

    Parameters
    ----------
    module, name : str
    advice : mapping, optional
        What to write instead, by name, where the module itself knows.
    """
    own = advice or {}
    why = own.get(name) or why_absent(module, name)
    unsupported_names.raise_absent(module, name, {name: why} if why else {})


def refusing(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module: what it lacks is refused, with the reason.

    Parameters
    ----------
    module : str
    """

    def find(name: str) -> Any:
        raise_absent(module, name)

    return find
