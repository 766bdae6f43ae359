"""Programs written for JAX: the same results on JAX and on numhlo under JAX's names, and JAX's rules for arrays."""

from __future__ import annotations

from itertools import pairwise

import jax
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax as compat
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ImmutableArrayError, VerificationError

jax.config.update("jax_enable_x64", True)


def train(jax, steps=5):
    """Gradient descent of a small network, written against JAX's names."""
    jnp = jax.numpy

    def predict(params, x):
        for layer in params[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x @ params[-1]["w"] + params[-1]["b"]

    def loss(params, x, y):
        return jnp.mean((predict(params, x) - y) ** 2) + 1e-3 * sum(jnp.sum(p["w"] ** 2) for p in params)

    @jax.jit
    def step(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    rng = np.random.default_rng(0)
    sizes = [3, 5, 2]
    params = [{"w": rng.normal(size=(a, b)), "b": np.zeros(b)} for a, b in pairwise(sizes)]
    x, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    values = []
    for _ in range(steps):
        params, value = step(params, x, y)
        values.append(value)
    return params, values


def kalman(jax):
    jnp = jax.numpy

    def step(carry, z):
        mean, var = carry
        gain = var / (var + 0.5)
        mean = mean + gain * (z - mean)
        var = (1 - gain) * var + 0.1
        return (mean, var), mean

    (_, var), means = jax.lax.scan(step, (0.0, 1.0), jnp.arange(5.0))
    return means, var


def updates(jax):
    jnp = jax.numpy
    x = jnp.arange(5.0)
    y = x
    y += 1
    z = x.at[1].set(9.0).at[jnp.array([0, 0, 7])].add(2.0)
    return x, y, z, x.at[100].set(3.0), x.at[jnp.array([1, 9])].get(mode="fill", fill_value=-1), x.sort()


def rebinding(jax):
    @jax.jit
    def f(x):
        y = x
        y += 1
        y *= 2
        return x, y

    x = np.arange(3.0)
    return f(x), x


def transformations(jax):
    jnp = jax.numpy
    f = lambda x: jnp.sum(jnp.sin(x) ** 2) * x[0]
    x = jnp.array([0.3, -1.0, 2.0])
    value, pull = jax.vjp(f, x)
    return (
        jax.grad(f)(x),
        jax.hessian(f)(x),
        jax.jacfwd(lambda v: v * v[0])(x),
        jax.jvp(f, (x,), (jnp.ones(3),)),
        value,
        pull(1.0),
        jax.vmap(lambda a, b: a @ b, in_axes=(0, None))(jnp.ones((4, 3)), x),
        jax.jit(jax.grad(f))(x),
        jax.linearize(f, x)[1](jnp.ones(3)),
        jax.vmap(jax.grad(lambda t: t**3))(x),
    )


def control(jax):
    lax, jnp = jax.lax, jax.numpy
    body = lambda i, v: v.at[i].set(v[i] + i)
    return (
        lax.fori_loop(0, 3, body, jnp.zeros(4)),
        lax.while_loop(lambda v: v < 100, lambda v: v * 2, 1.5),
        lax.cond(True, lambda: jnp.ones(2), lambda: jnp.zeros(2)),
        lax.switch(1, [lambda x: x, lambda x: -x], 4.0),
        lax.map(lambda v: v**2, jnp.arange(3.0)),
        lax.dynamic_slice(jnp.arange(6), (2,), (3,)),
    )


def functions(jax):
    jnp = jax.numpy
    x = jnp.linspace(0, 1, 6).reshape(2, 3)
    return (
        jnp.where(x > 0.5, x, 0),
        jnp.einsum("ij,kj->ik", x, x),
        jnp.linalg.norm(x),
        jax.nn.softmax(x),
        jax.scipy.special.logsumexp(x, axis=0),
        jnp.concatenate([x, x[:1]]),
        jnp.argsort(-x, axis=1),
        jnp.unique(jnp.array([3, 1, 3]), size=3, fill_value=0),
        jnp.float32(2) * x.astype(jnp.float32),
        jnp.pi,
        jax.tree_util.tree_leaves({"a": x}),
    )


@pytest.mark.slow
@pytest.mark.parametrize("program", [train, kalman, updates, rebinding, transformations, control, functions])
def test_programs(program):
    wanted, found = jax.tree.leaves(program(jax)), jax.tree.leaves(program(compat))
    assert len(wanted) == len(found)
    for w, f in zip(wanted, found, strict=True):
        np.testing.assert_allclose(np.asarray(f), np.asarray(w), rtol=1e-12, atol=1e-14)
        assert np.asarray(f).dtype == np.asarray(w).dtype


def test_arrays_are_immutable():
    jnp = compat.numpy
    x = jnp.arange(3.0)
    assert type(x) is compat.Array and not x.flags.writeable and type(x + 1) is compat.Array
    assert (
        not (x + 1).flags.writeable and type(x[0]) is compat.Array and type(compat.jit(lambda v: v)(x)) is compat.Array
    )
    with pytest.raises(ImmutableArrayError) as caught:
        x[0] = 1
    assert str(caught.value).startswith("x[index] = value: arrays are immutable under JAX's rules\n  at test_jax.py:")
    assert str(caught.value).endswith(
        "  numhlo.compat.jax has JAX's semantics; numhlo itself has NumPy's, where this works; "
        "use x = x.at[index].set(value)"
    )
    for write in (lambda v: v.fill(1), lambda v: v.__setitem__(0, 1), lambda v: v.put(0, 1)):
        for target in (
            write,
            compat.jit(write),
            compat.vmap(write),
            compat.grad(lambda v, w=write: (w(v), v.sum())[1]),
        ):
            with pytest.raises((ImmutableArrayError, ValueError)):
                target(x if target is not compat.vmap else x[None])
    for reduced in (jnp.mean(x), x.mean(0), x.std(), jnp.var(x, axis=0), jnp.cov(x), jnp.average(x), x.round(1)):
        assert type(reduced) is compat.Array and not reduced.flags.writeable
    assert isinstance(x, jnp.ndarray)
    assert compat.jit(lambda v: isinstance(v, jnp.ndarray) * v)(x).tolist() == [0, 1, 2]


def test_nothing_is_written_back_and_nothing_is_shared():
    x = np.arange(3.0)
    y = compat.numpy.asarray(x)
    z = compat.numpy.reshape(x, (3, 1))
    x[0] = 9
    assert y.tolist() == [0, 1, 2] and z.ravel().tolist() == [0, 1, 2]

    @compat.jit
    def f(v):
        v += 1
        return v

    assert f(x).tolist() == [10, 2, 3] and x.tolist() == [9, 1, 2]


def test_rules_do_not_leak():
    @numhlo.jit
    def numpy_like(v):
        v[0] = 5
        return v

    compat.jit(lambda v: v * 2)(np.ones(2))
    assert numpy_like(np.ones(2)).tolist() == [5, 1]
    f = lambda v: v + 1
    assert type(numhlo.jit(f)(np.ones(1))) is numhlo.Array and type(compat.jit(f)(np.ones(1))) is compat.Array


def test_jitted_functions_are_numhlos_underneath():
    f = compat.jit(lambda x, n: x * n, static_argnums=1, donate_argnums=0)
    assert f(np.ones(2), 3).tolist() == [3, 3]
    assert f.lower(np.ones(2), 3).as_text().startswith("module") and "lambda" in repr(f)

    class Model:
        scale = 2.0

        @compat.jit
        def __call__(self, x):
            return x * self.scale

    assert Model()(np.ones(1)).tolist() == [2.0]
    assert compat.jit(static_argnames="n")(lambda x, n: x + n)(1.0, n=2) == 3
    assert compat.eval_shape(lambda x: x.T, compat.ShapeDtypeStruct((2, 3), "float32")).shape == (3, 2)
    with compat.disable_jit():
        assert f(np.ones(2), 4).tolist() == [4, 4]


def test_devices_and_configuration():
    assert compat.devices() == ["cpu"] and compat.device_count() == 1 and compat.default_backend() == "cpu"
    put = compat.device_put({"a": np.ones(2)})
    assert type(put["a"]) is compat.Array and type(compat.device_get(put)["a"]) is not compat.Array
    assert compat.block_until_ready(put) is put
    with pytest.raises(ArgumentError) as caught:
        compat.config.update("jax_numpy_rank_promotion", "raise")
    assert str(caught.value) == (
        "jax.config.update('jax_numpy_rank_promotion', 'raise')\n"
        f"  at {caught.value.where.describe()}\n  here it is always 'allow'; reshape before you combine arrays"
    )
    with pytest.raises(ArgumentError, match=r"numhlo knows jax_.*, jax_enable_x64"):
        compat.config.update("jax_nonsense", True)
    with pytest.raises(ArgumentError, match="this machine's processor"):
        compat.devices("gpu")
    assert compat.config.read("jax_enable_x64") and "sin" in dir(compat.numpy)


def test_what_programs_ask_of_devices_and_dtypes():
    (device,) = compat.devices()
    assert device == "cpu" and (device.platform, device.id, device.process_index) == ("cpu", 0, 0)
    with compat.default_device(device), compat.default_matmul_precision("highest"), compat.enable_x64(True):
        product = compat.numpy.ones(2) @ compat.numpy.ones(2)
    with compat.numpy_dtype_promotion("standard"), compat.default_device(None):
        assert product == 2 and compat.device_put(1.0, device) == 1
    with pytest.raises(ArgumentError, match="use 'standard' or 'strict'"):
        compat.numpy_dtype_promotion("lax")
    assert ".".join(map(str, compat.__version_info__)) == compat.__version__ and compat.typing.ArrayLike is not None
    assert "broadcasting" in refused(lambda: numhlo.scipy.spatial)
    key = compat.random.key(3)
    assert compat.random.clone(key) is key


def refused(ask):
    with pytest.raises(AttributeError) as found:
        ask()
    return str(found.value)


@pytest.mark.parametrize("jax", [jax, compat], ids=["jax", "compat"])
def test_errors_have_the_names_of_jax(jax):
    jnp = jax.numpy
    for error, fun in (
        (jax.errors.TracerBoolConversionError, lambda x: 1 if x > 0 else 2),
        (jax.errors.ConcretizationTypeError, lambda x: float(x)),
        (jax.errors.TracerArrayConversionError, lambda x: np.asarray(x)),
        (jax.errors.TracerIntegerConversionError, lambda x: [1, 2][x.astype(int)]),
        (jax.errors.NonConcreteBooleanIndexError, lambda x: jnp.ones(2)[x > jnp.zeros(2)]),
    ):
        with pytest.raises(error):
            jax.jit(fun)(1.0)


@pytest.mark.parametrize("jax", [jax, compat], ids=["jax", "compat"])
def test_functions_along_axes(jax):
    x = jax.numpy.arange(6.0).reshape(2, 3)
    assert jax.numpy.apply_along_axis(lambda row: row.at[0].set(9).sum(), 1, x).tolist() == [12, 18]
    assert jax.numpy.apply_along_axis(lambda row: row * 2, 0, x).tolist() == (x * 2).tolist()


def out_of_bounds(jax):
    jnp = jax.numpy
    x = jnp.arange(10.0)
    table = x.reshape(2, 5)
    reads = [x[12], x[-12], x[jnp.array([1, 12, -12])], x[np.array([1, 12])], x[np.int64(11)], table[5, 1], table[1, 7]]
    got = [x.at[12].get(), x.at[-12].get(), x.at[jnp.array([12, -12, 2])].get(), x.at[-12].get(mode="fill")]
    written = [x.at[12].set(1.0), x.at[-12].add(1.0), table.at[5].set(0.0), x.at[jnp.array([12, 2])].set(5.0)]
    return reads, got, written, x[8:14]


@pytest.mark.parametrize("traced", [False, True])
def test_constant_indices_out_of_bounds_are_clamped_and_dropped(traced):
    run = lambda jax: jax.jit(lambda: out_of_bounds(jax))() if traced else out_of_bounds(jax)
    for wanted, found in zip(jax.tree.leaves(run(jax)), jax.tree.leaves(run(compat)), strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    one, two = compat.random.split(compat.random.PRNGKey(0))
    assert [*one, *two, *compat.numpy.ones(2)][4:] == [1.0, 1.0] and list(reversed(compat.numpy.arange(3))) == [2, 1, 0]
    with pytest.raises(TypeError, match="0-d"):
        iter(compat.numpy.asarray(1.0))
    for wrong in (lambda x: x[1, 2], lambda x: x["a"], lambda x: x[:0][3]):
        with pytest.raises(IndexError):
            wrong(compat.numpy.arange(3.0))
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        numhlo.jit(lambda x: x[7])(np.arange(3.0))


TABLE = np.arange(24.0).reshape(4, 6)
READS = {
    "an array": (lambda table, i, jnp: table[i], lambda i: TABLE[i]),
    "one of two places": (lambda table, i, jnp: table[1, i], lambda i: TABLE[1, i]),
    "beside a slice": (lambda table, i, jnp: table[:, i[0]], lambda i: TABLE[:, i[0]]),
    "take": (lambda table, i, jnp: table.take(i, axis=1), lambda i: TABLE.take(i, axis=1)),
    "dot": (lambda table, i, jnp: table[:, :3].dot(i), lambda i: TABLE[:, :3].dot(i)),
    "clip": (lambda table, i, jnp: table.clip(i[1], 9), lambda i: TABLE.clip(i[1], 9)),
    "max": (lambda table, i, jnp: table.max(initial=i[1]), lambda i: TABLE.max(initial=i[1])),
    "sum": (lambda table, i, jnp: table.sum(where=i[0] < 9), lambda i: TABLE.sum()),
    "searchsorted": (lambda table, i, jnp: table[0].searchsorted(i), lambda i: TABLE[0].searchsorted(i)),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("transformed", [compat.jit, lambda f: lambda i: compat.vmap(f)(i[None])[0]])
def test_arrays_from_outside_are_read_at_traced_places(read, transformed):
    table, places = compat.numpy.asarray(TABLE), np.array([2, 3, 0])
    ours, wanted = READS[read]
    found = transformed(lambda i: ours(table, i, compat.numpy))(compat.numpy.asarray(places))
    np.testing.assert_array_equal(found, wanted(places))


MIXED = {
    "add": lambda lax, x, y: lax.add(x, y),
    "conv": lambda lax, x, y: lax.conv(x[None, None], y[None, None], (1, 1), "SAME"),
    "dot": lambda lax, x, y: lax.dot(x, y),
    "concatenate": lambda lax, x, y: lax.concatenate([x, y], 0),
    "dynamic_update_slice": lambda lax, x, y: lax.dynamic_update_slice(x, y, (0, 0)),
}


@pytest.mark.parametrize("name", MIXED)
def test_strict_functions_take_both_widths_as_programs_for_jax_of_32_bits_do(name):
    x, y = np.arange(4, dtype=np.float32).reshape(2, 2), np.ones((2, 2))
    found = MIXED[name](compat.lax, compat.numpy.asarray(x), compat.numpy.asarray(y))
    wanted = MIXED[name](jax.lax, x, y.astype(np.float32))
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises((DTypeError, VerificationError)):
        MIXED[name](numhlo.lax, x, y)
    with pytest.raises((DTypeError, VerificationError)):
        MIXED[name](compat.lax, x.astype(np.float16), y)
