"""`jax.config`: what can be asked for, and what there is no switch for."""

from __future__ import annotations

from typing import Any

from numhlo.lowering.ir.errors import ArgumentError

FIXED: dict[str, Any] = {
    "jax_enable_x64": True,
    "jax_platform_name": "cpu",
    "jax_platforms": "cpu",
    "jax_default_prng_impl": "threefry2x32",
    "jax_threefry_partitionable": True,
    "jax_numpy_rank_promotion": "allow",
    "jax_disable_jit": False,
    "jax_debug_nans": False,
    "jax_debug_infs": False,
    "jax_log_compiles": False,
}
"""Settings that have one value here."""

INSTEAD: dict[str, str] = {
    "jax_enable_x64": "ask for float32 by dtype=",
    "jax_disable_jit": "use it in a block: with jax.disable_jit()",
    "jax_debug_nans": "use it in a block: with jax.debug_nans()",
    "jax_debug_infs": "use it in a block: with jax.debug_infs()",
    "jax_log_compiles": "use it in a block: with jax.log_compiles()",
}
"""What to write instead of another value."""


class Configuration:
    """Settings under JAX's names; those that numhlo has one answer to can be read, and set to that."""

    jax_enable_x64 = True
    x64_enabled = True

    def update(self, name: str, value: Any) -> None:
        """Set a setting to the value that it has.

        Raises
        ------
        ArgumentError
            If numhlo has no such setting, or only another value.
        """
        if name not in FIXED:
            raise ArgumentError(f"jax.config.update({name!r}, {value!r})", fix=f"numhlo knows {', '.join(FIXED)}")
        if value != FIXED[name]:
            raise ArgumentError(
                f"jax.config.update({name!r}, {value!r})",
                why=f"here it is always {FIXED[name]!r}",
                fix=INSTEAD.get(name, "leave it out"),
            )

    def read(self, name: str) -> Any:
        """Return a setting."""
        return FIXED[name]


config = Configuration()
