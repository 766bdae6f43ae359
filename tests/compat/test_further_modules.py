"""Modules that programs and libraries written for JAX import, held against JAX's own as they run."""

from __future__ import annotations

import importlib

import jax
import numpy as np
import pytest
from jax.example_libraries import optimizers as their_optimizers
from jax.example_libraries import stax as their_stax
from jax.experimental import jet as their_jet

from numhlo.compat import jax as compat
from numhlo.compat.jax import api_util, monitoring
from numhlo.compat.jax.example_libraries import optimizers, stax
from numhlo.compat.jax.experimental import jet
from numhlo.compat.jax.extend import linear_util
from tests.compat import names_page
from tests.known_versions import skip_if_newer

MAKERS = {
    "sgd": (0.1,),
    "momentum": (0.1, 0.9),
    "nesterov": (0.1, 0.9),
    "adagrad": (0.1,),
    "rmsprop": (0.1,),
    "rmsprop_momentum": (0.01,),
    "adam": (0.1,),
    "adamax": (0.1,),
    "sm3": (0.1,),
}


@pytest.mark.parametrize("name", MAKERS)
def test_optimizers(name):
    rng = np.random.default_rng(7)
    start = {"w": rng.normal(size=(2, 3)), "b": [rng.normal(size=3)]}
    slopes = [{"w": rng.normal(size=(2, 3)), "b": [rng.normal(size=3)]} for _ in range(4)]
    found = []
    for lib in (optimizers, their_optimizers):
        init, update, get_params = getattr(lib, name)(*MAKERS[name])
        state = init(start)
        for step, slope in enumerate(slopes):
            state = update(step, lib.clip_grads(slope, 2.0), state)
        found.append(get_params(lib.pack_optimizer_state(lib.unpack_optimizer_state(state))))
    for got, wanted in zip(jax.tree.leaves(found[0]), jax.tree.leaves(found[1]), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_schedules_and_what_optimizers_refuse():
    for name, options in {
        "exponential_decay": (0.1, 10, 0.9),
        "inverse_time_decay": (0.1, 10, 0.9),
        "polynomial_decay": (0.1, 10, 0.01, 2.0),
        "piecewise_constant": ([3, 6], [0.1, 0.2, 0.3]),
    }.items():
        ours, theirs = (getattr(lib, name)(*options) for lib in (optimizers, their_optimizers))
        np.testing.assert_allclose([ours(i) for i in range(12)], [theirs(i) for i in range(12)], rtol=1e-6)
    init, update, _ = optimizers.sgd(0.1)
    with pytest.raises(TypeError, match="did not match the parameter tree"):
        update(0, [1.0], init([1.0, 2.0]))
    with pytest.raises(TypeError):
        optimizers.sgd(np.ones(2))


def networks(lib):
    return [
        (lib.serial(lib.Dense(5), lib.Relu, lib.Dense(2), lib.LogSoftmax), (4, 3)),
        (
            lib.serial(
                lib.Conv(3, (2, 2), padding="SAME"), lib.BatchNorm(), lib.Tanh, lib.MaxPool((2, 2)), lib.Flatten
            ),
            (2, 6, 6, 2),
        ),
        (lib.serial(lib.ConvTranspose(2, (3, 3), (2, 2)), lib.AvgPool((2, 2), (2, 2)), lib.Softplus), (2, 4, 4, 1)),
        (lib.serial(lib.FanOut(2), lib.parallel(lib.Dense(3), lib.Identity), lib.FanInSum), (4, 3)),
        (lib.serial(lib.FanOut(2), lib.parallel(lib.Dense(3), lib.Identity), lib.FanInConcat()), (4, 3)),
    ]


@pytest.mark.parametrize("number", range(5))
def test_layers(number):
    (init, apply), shape = networks(stax)[number]
    (their_init, their_apply), _ = networks(their_stax)[number]
    their_shape, params = their_init(jax.random.key(0), shape)
    our_shape, ours = init(compat.random.key(0), shape)
    assert tuple(our_shape) == tuple(their_shape)
    assert [x.shape for x in jax.tree.leaves(ours)] == [x.shape for x in jax.tree.leaves(params)]
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    params = jax.tree.map(lambda p: np.asarray(p, np.float32), params)
    found = compat.jit(apply)(params, x)
    np.testing.assert_allclose(found, their_apply(params, x), rtol=1e-4, atol=1e-5)


def test_dropout():
    init, apply = stax.Dropout(0.5)
    assert init(None, (3,)) == ((3,), ())
    kept = apply((), np.ones(1000), rng=compat.random.key(0))
    assert set(np.asarray(kept).tolist()) == {0.0, 2.0} and 400 < np.count_nonzero(kept) < 600
    with pytest.raises(ValueError, match="rng=key"):
        apply((), np.ones(2))
    assert stax.Dropout(0.5, mode="test")[1]((), 3.0) == 3.0


@pytest.mark.parametrize("scaled", [True, False])
def test_jet(scaled):
    f = lambda lib: lambda x, y: lib.numpy.sin(x) * lib.numpy.exp(y * x) + x**2
    rng = np.random.default_rng(2)
    for order in (1, 3):
        primals = tuple(rng.normal(size=(2, 3)))
        series = tuple([*rng.normal(size=(order, 3))] for _ in range(2))
        value, found = jet.jet(f(compat), primals, series, factorial_scaled=scaled)
        wanted, terms = their_jet.jet(f(jax), primals, series, factorial_scaled=scaled)
        np.testing.assert_allclose([value, *found], [wanted, *terms], rtol=1e-10)
    with pytest.raises(ValueError, match="inconsistent lengths"):
        jet.jet(f(compat), (1.0, 2.0), ([1.0], []))


def test_wrapped_functions():
    tree = compat.tree_util.tree_structure(((1, [2]), {"k": 3}))
    flat, out_tree = api_util.flatten_fun(linear_util.wrap_init(lambda x, y, k: {"a": x, "b": (y[0], k)}), tree)
    with pytest.raises(linear_util.StoreException):
        out_tree()
    assert flat.call_wrapped(1, 2, 3) == [1, 2, 3]
    assert out_tree() == compat.tree_util.tree_structure({"a": 0, "b": (0, 0)})
    fixed, args = api_util.argnums_partial(linear_util.wrap_init(lambda x, y: x - y), 1, (5, 3))
    assert args == (3,) and fixed.call_wrapped(1) == 4
    assert api_util.rebase_donate_argnums((2, 3), (0,)) == (1, 2)
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        api_util.argnums_partial(linear_util.wrap_init(max), 0, (5, [3]))


def test_events():
    heard = []
    monitoring.register_event_duration_secs_listener(lambda *a, **k: heard.append((a, k)))
    monitoring.register_scalar_listener(lambda *a, **k: heard.append((a, k)))
    monitoring.record_event_duration_secs("/step", 1.5, n=1)
    monitoring.record_scalar("/loss", 0.5)
    monitoring.clear_event_listeners()
    monitoring.record_scalar("/loss", 0.25)
    assert heard == [(("/step", 1.5), {"n": 1}), (("/loss", 0.5), {})]


@pytest.mark.parametrize(
    "name",
    ["_src.ad_util.stop_gradient_p", "_src.api_util.flatten_fun", "_src.checkify.JaxException", "_src.core.ShapedArray",
     "_src.custom_derivatives.custom_jvp", "_src.dispatch.wait_for_tokens", "_src.dtypes.issubdtype",
     "_src.flatten_util.ravel_pytree", "_src.linear_util.wrap_init", "_src.literals.TypedNdArray",
     "_src.traceback_util.register_exclusion", "_src.tree_util.tree_map", "_src.util.safe_map",
     "_src.xla_bridge.default_backend", "extend.backend.get_default_device", "scipy.stats.norm.logpdf",
     "scipy.stats.poisson.pmf", "sharding.AbstractMesh", "lib.__version__"],
)  # fmt: skip
def test_names_that_libraries_import(name):
    module, _, attribute = f"numhlo.compat.jax.{name}".rpartition(".")
    assert getattr(importlib.import_module(module), attribute) is not None


def test_the_page_of_names_is_current():
    skip_if_newer("jax")
    page = names_page.page()
    assert f"({names_page.NO_REASON})" not in page
    assert names_page.PAGE.read_text() == page, "run python -m tests.compat.names_page"
