"""Every public name of NumPy's and JAX's modules is here, or its absence says what to write instead."""

from __future__ import annotations

import importlib
import types

import jax
import numpy as np
import pytest

import numhlo
from numhlo import compat
from tests.known_versions import skip_if_newer

FOREIGN = {
    "jax": "machinery of JAX's own arrays, devices, keys and tracing",
    "lax": "types of arguments, helpers on shapes, tokens and collectives of JAX's own",
    "lax.linalg": "choices between JAX's own algorithms",
    "random": "JAX's typed keys",
    "nn": "scaled products of 8-bit blocks",
    "nn.initializers": "a protocol for type checkers",
    "tree_util": "types for type checkers, JAX's registry",
    "debug": "pictures of shardings",
}
"""Modules with names that mean something to JAX alone, and what these are."""

OWN = {
    "jax": """Shard ad allow_f16_reductions array_garbage_collection_guard auto_pcast copy_to_host_async debug_key_reuse
        default_prng_impl ds enable_checks enable_custom_prng host_count host_id host_ids
        jax2tf_associative_scan_reductions legacy_prng_key live_arrays make_array_from_callback
        make_array_from_process_local_data make_array_from_single_device_arrays make_user_context memory no_execution
        no_tracing print_environment_info process_indices remove_size_one_mesh_axis_from_type softmax_custom_jvp
        thread_guard threefry_partitionable transfer_guard_device_to_device transfer_guard_device_to_host
        transfer_guard_host_to_device""",
    "lax": """AccuracyMode ConvGeneralDilatedDimensionNumbers DotAlgorithm DotAlgorithmPreset DotDimensionNumbers
        PrecisionLike RaggedDotDimensionNumbers Tolerance after_all broadcast_to_rank conv_general_permutations
        conv_general_shape_tuple conv_shape_tuple conv_transpose_shape_tuple create_token dce_sink dtype igamma_grad_a
        precv psend ragged_all_to_all ragged_dot_general reduce_window_shape_tuple
        scaled_dot shape_as_value stage""",
    "lax.linalg": "EigImplementation EighImplementation SvdAlgorithm",
    "random": "clone key_dtype key_impl",
    "nn": "get_scaled_dot_general_config scaled_dot_general scaled_matmul",
    "nn.initializers": "Initializer",
    "tree_util": "KeyEntry KeyPath default_registry",
    "debug": """log DebugEffect OrderedDebugEffect visualize_array_sharding inspect_array_sharding visualize_sharding""",
}

MODULES = [
    "", "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "random", "nn", "nn.initializers", "tree_util", "tree",
    "ops", "flatten_util", "debug", "scipy.special", "scipy.linalg", "scipy.signal", "scipy.stats", "scipy.fft",
    "scipy.integrate", "scipy.ndimage", "scipy.optimize", "scipy.interpolate", "scipy.sparse.linalg",
]  # fmt: skip


def public_names(module):
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return [name for name in names if not isinstance(getattr(module, name, None), types.ModuleType)]


def without_advice(module, names):
    """Return the names that a module lacks without saying what to write instead."""
    found = []
    for name in names:
        try:
            getattr(module, name)
        except AttributeError as error:
            if ";" not in str(error):
                found.append(name)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_names_of_jax(module):
    skip_if_newer("jax")
    theirs = importlib.import_module(f"jax.{module}".rstrip("."))
    ours = importlib.import_module(f"numhlo.{module}".rstrip("."))
    own = set(OWN.get(module or "jax", "").split())
    names = [name for name in public_names(theirs) if not name.endswith("_p") and name not in own]
    assert without_advice(ours, names) == []
    assert own <= set(public_names(theirs)) and set(OWN) == set(FOREIGN)
    assert not [name for name in own if hasattr(ours, name)]
    under_jax = importlib.import_module(f"numhlo.compat.jax.{module}".rstrip("."))
    assert without_advice(under_jax, names) == []
    assert not [name for name in names if hasattr(ours, name) and not hasattr(under_jax, name)]


@pytest.mark.parametrize("module", ["", "linalg", "fft"])
def test_names_of_numpy(module):
    skip_if_newer("numpy")
    theirs = importlib.import_module(f"numpy.{module}".rstrip("."))
    ours = importlib.import_module(f"numhlo.numpy.{module}".rstrip("."))
    names = [name for name in public_names(theirs) if name != "__version__"]
    assert without_advice(ours, names) == []


def test_modules_that_are_absent():
    for name in ("cluster", "spatial"):
        assert not hasattr(numhlo.scipy, name)
        with pytest.raises(AttributeError, match=f"'numhlo.scipy' has no attribute '{name}'; use"):
            getattr(numhlo.scipy, name)
    with pytest.raises(AttributeError, match=r"^module 'numhlo.lax' has no attribute 'nonsense'$"):
        _ = numhlo.lax.nonsense
    assert (
        "sqrtm" in dir(compat.jax.scipy.linalg) and compat.jax.lax.linalg.schur(np.eye(2))[0].flags.writeable is False
    )
    assert isinstance(jax.numpy.ones(1), jax.Array) and isinstance(compat.jax.numpy.ones(1), compat.jax.Array)
