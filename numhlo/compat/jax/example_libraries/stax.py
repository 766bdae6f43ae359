"""`jax.example_libraries.stax`: layers of networks as pairs of functions.

A layer is ``(init, apply)``: ``init(key, input_shape)`` gives the output's shape and the parameters,
``apply(params, inputs, **kwargs)`` the output. Extents of -1 stand for the batch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax, random
from numhlo.compat.jax.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from numhlo.compat.jax.nn.initializers import glorot_normal, normal, ones, zeros

__all__ = [
    "AvgPool", "BatchNorm", "Conv", "Conv1DTranspose", "ConvTranspose", "Dense", "Dropout", "Elu", "Exp",
    "FanInConcat", "FanInSum", "FanOut", "Flatten", "Gelu", "GeneralConv", "GeneralConvTranspose", "Identity",
    "LeakyRelu", "LogSoftmax", "MaxPool", "Relu", "Selu", "Sigmoid", "Softmax", "Softplus", "SumPool", "Tanh",
    "elementwise", "elu", "gelu", "glorot", "glorot_normal", "leaky_relu", "log_softmax", "logsoftmax", "normal",
    "ones", "parallel", "randn", "relu", "selu", "serial", "shape_dependent", "sigmoid", "softmax", "softplus",
    "standardize", "zeros",
]  # fmt: skip

Layer = tuple[Callable[..., Any], Callable[..., Any]]

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax


def Dense(out_dim: int, W_init: Any = glorot_normal(), b_init: Any = normal()) -> Layer:  # noqa: B008, N802
    """Make a layer that multiplies by a matrix and adds a vector.

    Examples
    --------
    >>> init, apply = Dense(2)
    >>> shape, params = init(random.key(0), (-1, 3))
    >>> shape, apply(params, jnp.ones((4, 3))).shape
    ((-1, 2), (4, 2))
    """

    def init(rng: Any, input_shape: Sequence[int]) -> Any:
        first, second = random.split(rng)
        weights, biases = W_init(first, (input_shape[-1], out_dim)), b_init(second, (out_dim,))
        return (*input_shape[:-1], out_dim), (weights, biases)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        weights, biases = params
        return jnp.dot(inputs, weights) + biases

    return init, apply


def _convolution(
    numbers: Any,
    out_chan: int,
    window: Sequence[int],
    strides: Any,
    padding: Any,
    w_init: Any,
    b_init: Any,
    turned: bool,
) -> Layer:
    lhs, rhs, out = numbers
    strides = strides or (1,) * len(window)
    chosen = w_init or glorot_normal(rhs.index("I"), rhs.index("O"))

    def convolve(x: Any, weights: Any) -> Any:
        if turned:
            return lax.conv_transpose(x, weights, strides, padding, dimension_numbers=numbers)
        return lax.conv_general_dilated(x, weights, strides, padding, (1,) * len(window), (1,) * len(window), numbers)

    def init(rng: Any, input_shape: Sequence[int]) -> Any:
        extents = iter(window)
        letters = {"O": out_chan, "I": input_shape[lhs.index("C")]}
        kernel_shape = [letters[c] if c in letters else next(extents) for c in rhs]
        made = jnp.zeros([1 if n == -1 else n for n in input_shape], jnp.float32)
        output = list(convolve(made, jnp.zeros(kernel_shape, jnp.float32)).shape)
        if input_shape[lhs.index("N")] == -1:
            output[out.index("N")] = -1
        bias_shape = [out_chan if c == "C" else 1 for c in out]
        first, second = random.split(rng)
        return tuple(output), (chosen(first, kernel_shape), b_init(second, bias_shape))

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        weights, biases = params
        return convolve(inputs, weights) + biases

    return init, apply


def GeneralConv(  # noqa: N802 - JAX's name
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008 - a function
) -> Layer:
    """Make a layer that convolves and adds a number to each channel."""
    return _convolution(dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init, False)


def GeneralConvTranspose(  # noqa: N802 - JAX's name
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008 - a function
) -> Layer:
    """Make a layer that convolves transposed and adds a number to each channel."""
    return _convolution(dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init, True)


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(  # noqa: N802 - JAX's name
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """Make a layer that gives a batch mean 0 and variance 1, then shifts and scales it."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init(rng: Any, input_shape: Sequence[int]) -> Any:
        shape = tuple(n for k, n in enumerate(input_shape) if k not in axes)
        first, second = random.split(rng)
        beta = beta_init(first, shape) if center else ()
        return tuple(input_shape), (beta, gamma_init(second, shape) if scale else ())

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        wide = tuple(None if k in axes else slice(None) for k in range(jnp.ndim(x)))
        found = standardize(x, axes, epsilon=epsilon)
        if scale:
            found = gamma[wide] * found
        return found + beta[wide] if center else found

    return init, apply


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """Make a layer of a function, without parameters."""

    def init(rng: Any, input_shape: Sequence[int]) -> Any:
        return tuple(input_shape), ()

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return fun(inputs, **fun_kwargs)

    return init, apply


Tanh = elementwise(jnp.tanh)
Relu = elementwise(relu)
Exp = elementwise(jnp.exp)
LogSoftmax = elementwise(log_softmax, axis=-1)
Softmax = elementwise(softmax, axis=-1)
Softplus = elementwise(softplus)
Sigmoid = elementwise(sigmoid)
Elu = elementwise(elu)
LeakyRelu = elementwise(leaky_relu)
Selu = elementwise(selu)
Gelu = elementwise(gelu)
Identity = elementwise(lambda x: x)


def _pooling(reducer: Any, start: float, finish: Callable[..., Any] | None = None) -> Callable[..., Layer]:
    def make(window_shape: Sequence[int], strides: Any = None, padding: Any = "VALID", spec: Any = None) -> Layer:
        places = spec or "N" + "W" * len(window_shape) + "C"
        window, steps = list(window_shape), list(strides or (1,) * len(window_shape))
        for place in sorted((places.index("N"), places.index("C"))):
            window.insert(place, 1)
            steps.insert(place, 1)

        def pool(x: Any) -> Any:
            found = lax.reduce_window(x, jnp.asarray(start, x.dtype), reducer, window, steps, padding)
            return found if finish is None else finish(found, x, window, steps, padding)

        def init(rng: Any, input_shape: Sequence[int]) -> Any:
            shape = pool(jnp.zeros([1 if n == -1 else n for n in input_shape], jnp.float32)).shape
            return tuple(-1 if old == -1 else n for n, old in zip(shape, input_shape, strict=True)), ()

        return init, lambda params, inputs, **kwargs: pool(inputs)

    return make


def _averaged(found: Any, x: Any, window: Sequence[int], steps: Sequence[int], padding: Any) -> Any:
    ones_of = jnp.ones(x.shape, x.dtype)
    return found / lax.reduce_window(ones_of, jnp.asarray(0, x.dtype), lax.add, window, steps, padding)


MaxPool = _pooling(lax.max, -math.inf)
SumPool = _pooling(lax.add, 0.0)
AvgPool = _pooling(lax.add, 0.0, _averaged)


def _flatten() -> Layer:
    def init(rng: Any, input_shape: Sequence[int]) -> Any:
        return (input_shape[0], math.prod(input_shape[1:])), ()

    return init, lambda params, inputs, **kwargs: jnp.reshape(inputs, (inputs.shape[0], -1))


Flatten = _flatten()


def FanOut(num: int) -> Layer:  # noqa: N802 - JAX's name
    """Make a layer that gives its input so many times."""
    return (lambda rng, input_shape: ([input_shape] * num, ())), (lambda params, inputs, **kwargs: [inputs] * num)


def _fan_in_sum() -> Layer:
    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return functools.reduce(lambda x, y: x + y, inputs)

    return (lambda rng, input_shape: (input_shape[0], ())), apply


FanInSum = _fan_in_sum()


def FanInConcat(axis: int = -1) -> Layer:  # noqa: N802 - JAX's name
    """Make a layer that joins its inputs along an axis."""

    def init(rng: Any, input_shape: Sequence[Any]) -> Any:
        shape = list(input_shape[0])
        shape[axis] = sum(s[axis] for s in input_shape)
        return tuple(shape), ()

    return init, lambda params, inputs, **kwargs: jnp.concatenate(inputs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:  # noqa: N802 - JAX's name
    """Make a layer that keeps numbers with probability ``rate``, scaled by its inverse, and gives zeros else.

    Its ``apply`` takes a key, ``rng=``, while training.
    """

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        if mode != "train":
            return inputs
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError("Dropout layer requires apply_fun to be called with a PRNG key argument: rng=key")
        kept = random.bernoulli(rng, rate, inputs.shape)
        return jnp.where(kept, inputs / rate, 0)

    return (lambda rng, input_shape: (input_shape, ())), apply


def serial(*layers: Layer) -> Layer:
    """Make a layer of layers, each of which takes what the one before gives.

    Examples
    --------
    >>> init, apply = serial(Dense(5), Relu, Dense(2))
    >>> shape, params = init(random.key(0), (-1, 3))
    >>> apply(params, jnp.ones((4, 3))).shape
    (4, 2)
    """
    inits, applies = zip(*layers, strict=True)

    def init(rng: Any, input_shape: Any) -> Any:
        params = []
        for layer_init in inits:
            rng, own = random.split(rng)
            input_shape, found = layer_init(own, input_shape)
            params.append(found)
        return input_shape, params

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        for layer_apply, own, key in zip(applies, params, keys, strict=True):
            inputs = layer_apply(own, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def _keys(rng: Any, number: int) -> Any:
    return (None,) * number if rng is None else random.split(rng, number)


def parallel(*layers: Layer) -> Layer:
    """Make a layer of layers, each of which takes an input of its own."""
    inits, applies = zip(*layers, strict=True)

    def init(rng: Any, input_shape: Any) -> Any:
        keys = random.split(rng, len(layers))
        found = [f(key, shape) for f, key, shape in zip(inits, keys, input_shape, strict=True)]
        return [shape for shape, _ in found], [params for _, params in found]

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        return [f(p, x, rng=key, **kwargs) for f, p, x, key in zip(applies, params, inputs, keys, strict=True)]

    return init, apply


def shape_dependent(make_layer: Callable[..., Layer]) -> Layer:
    """Make a layer of a function that gives one for the input's shape."""

    def init(rng: Any, input_shape: Any) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init, apply
