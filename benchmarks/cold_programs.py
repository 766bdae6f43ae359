"""The programs that `cold` starts: exported by JAX as text, written with NumPy's names, and written for JAX.

``prepare(name, library, folder)`` imports the library, decorates the function and makes the arguments; what it returns
is called at time 0, for which a text is read, and returns what is called again and again. Neither library is imported
by reading this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calls import make, module_of, own_arguments
from benchmarks.registry import program
from benchmarks.written_arrays import ARRAYS
from benchmarks.written_networks import NETWORKS

STEADY_SECONDS = 0.5
"""At the end of a measurement, when all kernels have been there for so long: answers come at a steady rate."""
Call = Callable[[], Any]
Start = Callable[[], Call]

EXPORTED = (
    "adam_step",
    "convolution_step",
    "transformer_block",
    "batch_normalization",
    "lstm",
    "gaussian_process",
    "fft_convolution",
    "random_choices",
    "kalman_filter",
    "per_example_gradients",
)
NUMPY = ("black_scholes", "softmax", "layer_norm", "mlp_forward", "k_means", "n_body", "mandelbrot", "viterbi")
WRITTEN = (
    "neural_ode_step",
    "transformer_block_grad",
    "lstm_grad",
    "small_images_step",
    "cross_entropy_grad",
    "hessian",
    "newton",
    "hidden_markov",
    "draw_normal",
    "draw_gamma",
    "expm",
    "interp",
)
NAMES = (*EXPORTED, *NUMPY, *WRITTEN)
QUICK = ("convolution_step", "lstm", "random_choices", "black_scholes", "k_means", "neural_ode_step", "newton", "expm")
BEFORE = (
    *("stencil", "polynomial_fresh", "sum_axis0", "sum_axis1", "argmax_axis0", "argmax_axis1", "edit_distance"),
    *("elementwise_chain", "dispatch_1", "dispatch_4"),
    *("gelu", "softmax_rows", "one_hot_grad", "sort_rows", "cumsum_rows", "covariance", "median", "scatter_add"),
    *("associative_scan", "histogram"),
)
"""What a notebook has compiled before."""


def export(names: Iterable[str], folder: Path) -> None:
    """Write exported programs and their arguments where `prepare` finds them."""
    jax = module_of("jax")
    for name in set(names) & set(EXPORTED):
        function, arguments = _exported(name)
        (folder / f"{name}.mlir").write_text(jax.jit(function).lower(*arguments).as_text())
        np.savez(folder / f"{name}.npz", *map(np.asarray, jax.tree.leaves(arguments)))


def prepare(name: str, library: str, folder: Path) -> Start:
    """Import a library, and return what makes one of its calls.

    Parameters
    ----------
    name : str
        One of `NAMES` or `BEFORE`.
    library : str
        ``"numhlo"`` or ``"jax"``.
    folder : Path
        Where `export` has been.
    """
    if name in EXPORTED:
        return _exported_in_jax(name) if library == "jax" else _text(name, folder)
    written = {p.name: p for p in (*NETWORKS, *ARRAYS)}.get(name)
    if written is None:
        return _numpy(name, library)
    module = module_of("numhlo.compat.jax" if library == "numhlo" else library)
    module.config.update("jax_enable_x64", True)
    arguments = module.tree.map(module.numpy.asarray, written.arguments())
    compute = written.compute
    function = module.jit(lambda *arguments: compute(module, *arguments))
    if library == "numhlo":
        return lambda: lambda: function(*arguments)
    return lambda: lambda: module.block_until_ready(function(*arguments))


def _numpy(name: str, library: str) -> Start:
    found = program(name)
    arguments = own_arguments(library, found.arguments("small"))
    function = make(found, library)
    return lambda: lambda: function(*arguments)


def _text(name: str, folder: Path) -> Start:
    parse = module_of("numhlo.stablehlo").parse
    text = (folder / f"{name}.mlir").read_text()
    with np.load(folder / f"{name}.npz") as saved:
        arguments = [saved[key] for key in saved.files]

    def start() -> Call:
        run = parse(text, name).callable().run
        return lambda: run(*arguments)

    return start


def _exported_in_jax(name: str) -> Start:
    jax = module_of("jax")
    function, arguments = _exported(name)
    own, compiled = own_arguments("jax", arguments), jax.jit(function)
    return lambda: lambda: jax.block_until_ready(compiled(*own))


def _exported(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    maker, small, _ = module_of("benchmarks.exported_programs").PROGRAMS[name]
    found: tuple[Callable[..., Any], tuple[Any, ...]] = maker(small)
    return found
