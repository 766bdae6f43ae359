"""`jax.config`: what can be asked for, and what there is no switch for."""

from __future__ import annotations

from typing import Any

from numhlo.lowering.ir.errors import ArgumentError

FIXED: dict[str, Any] = {"jax_enable_x64": True, "jax_platform_name": "cpu", "jax_platforms": "cpu"}
"""Settings that have one value here."""


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
                why="dtypes are NumPy's and the processor is the only device",
                fix="ask for float32 by dtype=" if name == "jax_enable_x64" else "leave it out",
            )

    def read(self, name: str) -> Any:
        """Return a setting."""
        return FIXED[name]


config = Configuration()
