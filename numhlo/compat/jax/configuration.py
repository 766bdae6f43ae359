"""`jax.config`: what can be asked for, what is switched in this thread, and what there is no switch for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from numhlo.compat.jax.processor import set_device_count
from numhlo.compilation.cache import forget_routes
from numhlo.compilation.disabling import disable_jit, is_disabled
from numhlo.compilation.leaks import checking_leaks, watches_leaks
from numhlo.compilation.looking import debug_infs, debug_nans, log_compiles
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.switches import jax_enables_x64, value_of
from numhlo.tracer.core.jax_types import Settings, set_in_process, settings

FIXED: dict[str, Any] = {
    "jax_platform_name": "cpu",
    "jax_platforms": "cpu",
    "jax_default_device": None,
    "jax_default_prng_impl": "threefry2x32",
    "jax_threefry_partitionable": True,
    "jax_enable_custom_prng": False,
    "jax_numpy_rank_promotion": "allow",
    "jax_debug_key_reuse": False,
    "jax_transfer_guard": "allow",
    "jax_allow_f16_reductions": True,
    "jax_legacy_prng_key": "allow",
    "jax_no_execution": False,
    "jax_no_tracing": False,
}
"""Settings that have one value here."""

INSTEAD: dict[str, str] = {
    "jax_numpy_rank_promotion": "reshape before you combine arrays",
}
"""What to write instead of another value."""

SWITCHES: Mapping[str, tuple[Callable[[bool], AbstractContextManager[None]], Callable[[], bool]]] = {
    "jax_disable_jit": (disable_jit, is_disabled),
    "jax_debug_nans": (debug_nans, lambda: "nan" in value_of("check")),
    "jax_debug_infs": (debug_infs, lambda: "inf" in value_of("check")),
    "jax_log_compiles": (log_compiles, lambda: bool(value_of("explain_cache"))),
    "jax_check_tracer_leaks": (checking_leaks, watches_leaks),
    "jax_explain_cache_misses": (log_compiles, lambda: bool(value_of("explain_cache"))),
}
"""Settings that are switched: what does it for a block, and what tells whether it is done."""

WITHOUT_EFFECT: dict[str, Any] = {
    "jax_default_matmul_precision": None,
    "jax_compilation_cache_dir": None,
    "jax_enable_compilation_cache": True,
    "jax_persistent_cache_min_compile_time_secs": 1.0,
    "jax_persistent_cache_min_entry_size_bytes": 0,
    "jax_persistent_cache_enable_xla_caches": "",
    "jax_raise_persistent_cache_errors": False,
    "jax_traceback_filtering": "auto",
    "jax_cpu_enable_async_dispatch": True,
    "jax_exec_time_optimization_effort": 0.0,
    "jax_memory_fitting_effort": 0.0,
    "jax_optimization_level": "UNKNOWN",
    "jax_include_full_tracebacks_in_locations": False,
    "jax_logging_level": None,
    "jax_array_garbage_collection_guard": "allow",
    "jax_auto_pcast": True,
    "jax_enable_checks": False,
    "jax2tf_associative_scan_reductions": False,
    "jax_remove_size_one_mesh_axis_from_type": False,
    "jax_softmax_custom_jvp": True,
    "jax_thread_guard": False,
    "jax_transfer_guard_device_to_device": None,
    "jax_transfer_guard_device_to_host": None,
    "jax_transfer_guard_host_to_device": None,
}
"""Settings about JAX's own caches, messages and choices, on which no result depends: what they are told is kept."""

TELLING: Mapping[str, tuple[Any, Callable[[Any], None]]] = {"jax_num_cpu_devices": (-1, set_device_count)}
"""Settings of the process: their values by default, and what is told of another one."""


class OfTypes(NamedTuple):
    """A setting that decides types, in the process and in blocks.

    Attributes
    ----------
    field : str
        What it is called among `Settings`.
    values : mapping
        By the value that JAX has for it, what it means.
    """

    field: str
    values: Mapping[Any, bool]

    def read(self, name: str, value: Any) -> dict[str, bool]:
        """Return the settings that a value means.

        Raises
        ------
        ArgumentError
            If there is no such value.
        """
        if value not in self.values:
            legal = " or ".join(map(repr, self.values))
            raise ArgumentError(f"jax.config: {name}={value!r}", where=capture_location(), fix=f"use {legal}")
        return {self.field: self.values[value]}

    def show(self, found: Settings) -> Any:
        """Return the value that is set."""
        return next(value for value, flag in self.values.items() if flag == getattr(found, self.field))


OF_TYPES: Mapping[str, OfTypes] = {
    "jax_enable_x64": OfTypes("x64", {False: False, True: True}),
    "jax_numpy_dtype_promotion": OfTypes("strict", {"standard": False, "strict": True}),
}
"""Settings that decide types."""

set_in_process(x64=jax_enables_x64())


class Configuration:
    """Settings under JAX's names; those that numhlo has one answer to can be read, and set to that."""

    def __init__(self) -> None:
        self._held: dict[str, AbstractContextManager[None]] = {}
        self._told: dict[str, Any] = {**WITHOUT_EFFECT, **{name: value for name, (value, _) in TELLING.items()}}

    def update(self, name: str, value: Any) -> None:
        """Set a setting; a switch holds in this thread, until it is set again.

        Parameters
        ----------
        name : str
        value : object

        Raises
        ------
        ArgumentError
            If numhlo has no such setting, or only another value.

        Examples
        --------
        >>> import numhlo.compat.jax as jax
        >>> jax.config.update("jax_disable_jit", True)
        >>> jax.jit(lambda x: type(x).__name__)(1.0)
        'float'
        >>> jax.config.update("jax_disable_jit", False)
        """
        if name in SWITCHES:
            self._switch(name, value)
        elif name in OF_TYPES:
            if set_in_process(**OF_TYPES[name].read(name, value)):
                forget_routes()
        elif name in self._told:
            if name in TELLING:
                TELLING[name][1](value)
            self._told[name] = value
        elif name not in FIXED:
            known = ", ".join([*FIXED, *OF_TYPES, *SWITCHES, *self._told])
            raise ArgumentError(
                f"jax.config.update({name!r}, {value!r})", where=capture_location(), fix=f"numhlo knows {known}"
            )
        elif value != FIXED[name]:
            raise ArgumentError(
                f"jax.config.update({name!r}, {value!r})",
                where=capture_location(),
                why=f"here it is always {FIXED[name]!r}",
                fix=INSTEAD.get(name, "leave it out"),
            )

    def _switch(self, name: str, value: Any) -> None:
        block, _ = SWITCHES[name]
        if name in self._held:
            self._held.pop(name).__exit__(None, None, None)
        if self.read(name) != bool(value):
            self._held[name] = held = block(bool(value))
            held.__enter__()

    def read(self, name: str) -> Any:
        """Return a setting.

        Raises
        ------
        AttributeError
            If numhlo has no such setting.
        """
        if name in SWITCHES:
            return SWITCHES[name][1]()
        if name in OF_TYPES:
            return OF_TYPES[name].show(settings())
        found = FIXED if name in FIXED else self._told
        if name not in found:
            raise AttributeError(f"jax.config has no setting {name!r} here", name=name)
        return found[name]

    @property
    def values(self) -> dict[str, Any]:
        """Return all settings."""
        return {name: self.read(name) for name in (*FIXED, *OF_TYPES, *SWITCHES, *self._told)}

    @property
    def x64_enabled(self) -> bool:
        """Return whether there are dtypes of 64 bits."""
        return settings().x64

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.read(name)


config = Configuration()
