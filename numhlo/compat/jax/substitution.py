"""Substitution: an import hook that puts these modules in JAX's place, for programs and libraries that import `jax`.

``import jax.numpy`` then gives `numhlo.compat.jax.numpy`, and `jaxlib` is `numhlo.compat.jaxlib`. What is not there is
refused where it is imported. ``python -m numhlo.compat.jax program.py`` does so for a whole process.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["install", "is_installed", "uninstall"]

PLACES = {"jax": "numhlo.compat.jax", "jaxlib": "numhlo.compat.jaxlib"}
"""By package, what is imported in its place."""

_ONE_PROCESS = "there is one process"
_XLA = "it is XLA's own interface; programs run without XLA"
_WITHOUT_MLIR = "programs are built without MLIR; lower a primitive with mlir.lower_fun"

REFUSED = {
    "jax.distributed": _ONE_PROCESS,
    "jax.experimental.array_serialization": "it writes arrays of many processes: use jnp.save",
    "jax.experimental.buffer_callback": "Python functions are called by pure_callback",
    "jax.experimental.colocated_python": _ONE_PROCESS,
    "jax.experimental.compute_on": "there is one device",
    "jax.experimental.control_deps": "operations run in the order of their data, and effects in theirs",
    "jax.experimental.custom_partitioning": "there is one device",
    "jax.experimental.fused": "it is for accelerators; kernels fuse by themselves",
    "jax.experimental.jax2tf": "TensorFlow runs no programs of numhlo; jax.export writes StableHLO",
    "jax.experimental.key_reuse": "nothing here looks for keys that are used twice",
    "jax.experimental.mosaic": "it is a compiler for accelerators",
    "jax.experimental.pallas": "kernels of Pallas are written for accelerators; write the operation in jax.numpy",
    "jax.experimental.profiler": "see jax.profiler",
    "jax.experimental.random": "keys are values: split them, or carry one along",
    "jax.experimental.rnn": "it calls a library for accelerators: write the cell, and lax.scan over it",
    "jax.experimental.roofline": "it models XLA's programs; see jit(f).lower(...).compile().cost_analysis()",
    "jax.experimental.scheduling_groups": "it tells XLA how to order operations; programs run without XLA",
    "jax.experimental.serialize_executable": "executables are kept by NUMHLO_CACHE_DIR",
    "jax.experimental.shard_alike": "there is one device",
    "jax.experimental.topologies": "there is one device",
    "jax.experimental.transfer": _ONE_PROCESS,
    "jax.experimental.xla_metadata": "it tells XLA about operations; programs run without XLA",
    "jax.extend.ifrt_programs": _XLA,
    "jax.extend.lowering": _XLA,
    "jax.extend.mlir": _WITHOUT_MLIR,
    "jax.extend.random": "keys are threefry2x32, rbg and unsafe_rbg: use jax.random.key(seed, impl=...)",
    "jax.extend.sharding": "there is one device",
    "jax.extend.xla": _XLA,
    "jax.ffi": "native functions are called by numhlo.kernel, Python's by pure_callback",
    "jax.lib.xla_extension": _XLA,
    "jax.tools": "they are tools for XLA's files",
    "jaxlib.mlir": _WITHOUT_MLIR,
    "jaxlib.xla_client": _XLA,
    "jaxlib.xla_extension": _XLA,
}
"""Modules that mean nothing here, and why."""


class _OwnModule(Loader):
    """Loads a module that exists under another name: it is the same object under both."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        module = import_module(self.own)
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is, with its own spec, which Python has just replaced."""
        module.__spec__ = self.own_spec


class _Finder(MetaPathFinder):
    """Finds `jax`, `jaxlib` and all modules in them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what loads a module of JAX's name, or None for all others.

        Raises
        ------
        ModuleNotFoundError
            If there is no such module here.
        """
        package, _, rest = fullname.partition(".")
        if package not in PLACES:
            return None
        own = ".".join([PLACES[package], *([rest] if rest else [])])
        try:
            module = import_module(own)
        except ModuleNotFoundError as error:
            if error.name is None or not own.startswith(error.name):
                raise
            raise _refusal(fullname) from None
        return ModuleSpec(fullname, _OwnModule(own), is_package=hasattr(module, "__path__"))


def why_refused(fullname: str) -> str:
    """Return why a module of JAX's is not here; empty where it is, or nobody wrote it.

    Examples
    --------
    >>> why_refused("jax.experimental.transfer")
    'there is one process'
    """
    return next((why for name, why in REFUSED.items() if f"{fullname}.".startswith(f"{name}.")), "")


def _refusal(fullname: str) -> ModuleNotFoundError:
    what = f"no module {fullname} in numhlo.compat.jax, which stands in JAX's place"
    why = why_refused(fullname)
    return ModuleNotFoundError(f"{what}: {why}" if why else what, name=fullname)


_FINDER = _Finder()


def _named() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] in PLACES]


def is_installed() -> bool:
    """Return whether these modules are in JAX's place.

    Examples
    --------
    >>> is_installed()
    False
    """
    return _FINDER in sys.meta_path


def install() -> None:
    """Put these modules in JAX's place: from now on, ``import jax`` gives `numhlo.compat.jax`.

    Modules that are imported before keep what they have; do this first. Doing it again changes nothing.

    Raises
    ------
    ImportError
        If JAX itself has been imported: its arrays and these don't mix.

    Examples
    --------
    >>> import numhlo.compat.jax
    >>> numhlo.compat.jax.install()  # doctest: +SKIP
    >>> import jax  # doctest: +SKIP
    >>> jax is numhlo.compat.jax  # doctest: +SKIP
    True
    """
    if is_installed():
        return
    loaded = [name for name in _named() if "." not in name]
    if loaded:
        raise ImportError(
            f"{loaded[0]} has been imported before numhlo.compat.jax.install(), and arrays of both don't mix; "
            "install first, or run python -m numhlo.compat.jax program.py",
            name=loaded[0],
        )
    sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Undo `install`: from now on, ``import jax`` gives JAX again; modules that are imported keep what they have.

    Examples
    --------
    >>> uninstall()
    """
    if not is_installed():
        return
    sys.meta_path.remove(_FINDER)
    for name in _named():
        del sys.modules[name]
