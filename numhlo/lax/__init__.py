"""Structured control flow and strict operations, under JAX's names."""

import numhlo.compilation.eager_loops as _eager_loops  # noqa: F401 - long loops outside tracing run compiled
import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.lax import linalg as linalg
from numhlo.library.citations import cite as _cite
from numhlo.library.lax import arguments as _arguments
from numhlo.library.lax import arithmetic as _arithmetic
from numhlo.library.lax import builder_operations as _builder
from numhlo.library.lax import collective_moves as _collective_moves
from numhlo.library.lax import collectives as _collectives
from numhlo.library.lax import conversions as _conversions
from numhlo.library.lax import elementwise as _elementwise
from numhlo.library.lax import indexing as _indexing
from numhlo.library.lax import joining as _joining
from numhlo.library.lax import linalg as _linear_algebra
from numhlo.library.lax import local_convolution as _local
from numhlo.library.lax import products as _products
from numhlo.library.lax import reductions as _reductions
from numhlo.library.lax import slices as _slices
from numhlo.library.lax import structure as _structure
from numhlo.library.lax import window_arguments as _window_arguments
from numhlo.library.lax import windows as _windows
from numhlo.library.lax.arguments import *  # noqa: F403
from numhlo.library.lax.arithmetic import *  # noqa: F403
from numhlo.library.lax.associative_scan import associative_scan as associative_scan
from numhlo.library.lax.builder_operations import *  # noqa: F403
from numhlo.library.lax.collective_moves import *  # noqa: F403
from numhlo.library.lax.collectives import *  # noqa: F403
from numhlo.library.lax.composites import composite as composite
from numhlo.library.lax.conversions import *  # noqa: F403
from numhlo.library.lax.elementwise import *  # noqa: F403
from numhlo.library.lax.implicit_solves import custom_linear_solve as custom_linear_solve
from numhlo.library.lax.implicit_solves import custom_root as custom_root
from numhlo.library.lax.indexing import *  # noqa: F403
from numhlo.library.lax.joining import *  # noqa: F403
from numhlo.library.lax.linalg import *  # noqa: F403
from numhlo.library.lax.local_convolution import *  # noqa: F403
from numhlo.library.lax.products import *  # noqa: F403
from numhlo.library.lax.reductions import *  # noqa: F403
from numhlo.library.lax.slices import *  # noqa: F403
from numhlo.library.lax.structure import *  # noqa: F403
from numhlo.library.lax.window_arguments import *  # noqa: F403
from numhlo.library.lax.windows import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent
from numhlo.tracer.control_flow.branches import cond as cond
from numhlo.tracer.control_flow.branches import switch as switch
from numhlo.tracer.control_flow.loops import fori_loop as fori_loop
from numhlo.tracer.control_flow.loops import while_loop as while_loop
from numhlo.tracer.control_flow.scan import map as map
from numhlo.tracer.control_flow.scan import scan as scan
from numhlo.tracer.transformations.differentiating import stop_gradient as stop_gradient

_CONTROL = (
    "associative_scan",
    "composite",
    "cond",
    "custom_linear_solve",
    "custom_root",
    "fori_loop",
    "linalg",
    "map",
    "scan",
    "stop_gradient",
    "switch",
    "while_loop",
)
_MODULES = (
    _arguments,
    _arithmetic,
    _builder,
    _collective_moves,
    _collectives,
    _conversions,
    _elementwise,
    _indexing,
    _joining,
    _linear_algebra,
    _local,
    _products,
    _reductions,
    _slices,
    _structure,
    _window_arguments,
    _windows,
)
_PUBLIC = {*_CONTROL, *[name for module in _MODULES for name in module.__all__]}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "XLA's operation semantics: {}", _builder.__all__)
_cite(globals(), "jax.lax.{}", __all__)
_ADVICE = {
    "ragged_dot": "use a product under a mask, or numhlo.ops.segment_sum of products",
    "axis_type": "leave it out: there is one machine",
    "with_sharding_constraint": "leave it out: there is one machine",
    "random_gamma_grad": "use numhlo.random.gamma; its samples have no derivative",
    "platform_dependent": "call what is meant for the CPU",
    "approx_max_k": "use top_k",
    "approx_min_k": "use top_k of the negative",
    "rng_uniform": "use numhlo.random.uniform",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
