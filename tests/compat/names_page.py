"""``python -m tests.compat.names_page``: write `docs/jax_names.md`, JAX's public names: there, or refused and why."""

from __future__ import annotations

import importlib
import pkgutil
import types
import warnings
from pathlib import Path
from typing import Any

import jax

from numhlo.compat.jax.substitution import why_refused

PAGE = Path(__file__).parents[2] / "docs" / "jax_names.md"

HEAD = """# JAX's names

The names of JAX {version}'s public modules, and what `numhlo.compat.jax` has of them. A name that is not there raises an
`AttributeError` when it is asked for, a module an `ImportError`; both say why. Written by
`python -m tests.compat.names_page`.

Of {names} names in {modules} modules, {there} are there.

| module | names | there | not there |
| --- | --- | --- | --- |
"""

NO_REASON = "no reason"
"""What the page says of names that nothing is said about; there are to be none."""

LEFT_OUT = (
    "jax.cloud_tpu_init", "jax.collect_profile", "jax.experimental.jax2tf", "jax.experimental.mosaic",
    "jax.experimental.pallas.", "jax.experimental.roofline", "jax.experimental.source_mapper", "jax.extend.mlir.",
    "jax.extend.pallas", "jax.tools",
)  # fmt: skip
"""Modules that are commands, need more packages, or stand for an accelerator alone."""


def modules() -> list[str]:
    """Return the names of JAX's public modules that can be imported here."""
    found = ["jax"]
    for info in pkgutil.walk_packages(jax.__path__, "jax.", onerror=lambda name: None):
        parts = info.name.split(".")
        if any(part.startswith("_") for part in parts) or info.name.startswith(LEFT_OUT):
            continue
        if info.name.startswith("jax.experimental.") and len(parts) > 3:
            continue
        found.append(info.name)
    return sorted(found)


def public_names(module: Any) -> list[str]:
    """Return the names that a module of JAX's gives away: its own, and those that it has of JAX's other modules."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    names = []
    for name in dir(module):
        if name.startswith("_"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(module, name)
        home = getattr(value, "__module__", None) or ""
        foreign = isinstance(value, types.ModuleType) or (home and not home.startswith(("jax", "numpy", "ml_dtypes")))
        if not foreign:
            names.append(name)
    return names


def _why(error: Exception) -> str:
    text = str(error).splitlines()[0]
    return text.partition("; ")[2]


def row(name: str) -> tuple[str, int, int]:
    """Return a module's line of the table, the number of its names, and of those that are there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = importlib.import_module(name)
        names = public_names(theirs)
    try:
        ours = importlib.import_module(f"numhlo.compat.{name}")
    except ImportError:
        why = why_refused(name)
        return f"| `{name}` | {len(names)} | - | the module ({why or NO_REASON}) |", len(names), 0
    missing: dict[str, list[str]] = {}
    for public in names:
        try:
            getattr(ours, public)
        except AttributeError as error:
            missing.setdefault(_why(error), []).append(public)
    groups = [f"{' '.join(f'`{n}`' for n in group)} ({why or NO_REASON})" for why, group in sorted(missing.items())]
    there = len(names) - sum(map(len, missing.values()))
    return f"| `{name}` | {len(names)} | {there} | {'; '.join(groups).replace('|', '/')} |", len(names), there


def page() -> str:
    """Return the page."""
    rows = [row(name) for name in modules()]
    counts = {
        "version": jax.__version__,
        "modules": len(rows),
        "names": sum(n for _, n, _ in rows),
        "there": sum(n for _, _, n in rows),
    }
    return HEAD.format(**counts) + "\n".join(text for text, _, _ in rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
