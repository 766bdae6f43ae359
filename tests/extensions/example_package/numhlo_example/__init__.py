"""An example of a package that extends numhlo: what it registers has names of the dialect ``example``.

`functions` has functions by name, `ops` ops of a dialect, `passes` a pass. numhlo loads all of it when a program has a
name that it does not know, as the entry point in ``pyproject.toml`` says; importing a module loads that module's.
"""

from importlib import import_module


def register() -> None:
    """Register everything."""
    for name in ("functions", "ops", "composites", "passes"):
        import_module(f"{__name__}.{name}")
