"""Programs for four devices, written for JAX, and what JAX itself makes of them in a process of its own.

``python tests/compat/programs_of_devices.py FILE`` runs them with JAX and pickles their results: JAX decides how many
devices it has when it is first used. What a program raises is its result, too: the class that callers would catch.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np

DEVICES = 4


def line(jax):
    return jax.sharding.Mesh(np.array(jax.devices()), ("x",))


def square(jax):
    return jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))


def data(jax, *shape, start=0.0):
    return jax.numpy.asarray(np.sin(np.arange(start, start + np.prod(shape))).reshape(shape))


def on_line(jax, body, in_specs=None, out_specs=None, **options):
    rows = jax.P("x")
    given = {"in_specs": rows if in_specs is None else in_specs, "out_specs": rows if out_specs is None else out_specs}
    return jax.shard_map(body, mesh=line(jax), **given, **options)


def collectives(jax):
    lax, x = jax.lax, data(jax, 16, 4)
    ring = [(k, (k + 1) % 4) for k in range(4)]
    bodies = [
        lambda a: a / lax.psum(a, "x") + lax.pmean(a, "x"),
        lambda a: lax.pmax(a, "x") - lax.pmin(a, "x") * lax.axis_index("x"),
        lambda a: lax.all_gather(a, "x")[:, :, 0] * a,
        lambda a: lax.all_gather(a, "x", axis=1, tiled=True) * lax.axis_size("x"),
        lambda a: lax.psum_scatter(a, "x"),
        lambda a: lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True),
        lambda a: lax.all_to_all(a, "x", 1, 1),
        lambda a: lax.all_to_all(a, "x", 0, 1, tiled=True),
        lambda a: lax.ppermute(a, "x", ring) + lax.ppermute(a, "x", ring[:2]),
        lambda a: lax.pshuffle(a, "x", [2, 0, 3, 1]),
    ]
    return jax.jit(lambda x: [on_line(jax, body)(x) for body in bodies])(x)


def derivatives(jax):
    """Gradients from outside of functions of all parts, and forward derivatives."""
    lax, jnp = jax.lax, jax.numpy
    x, w = data(jax, 16, 4), data(jax, 4, start=7.0)
    weights = data(jax, 128, start=3.0)
    bodies = [
        lambda a, w: jnp.tanh(lax.psum(a * w, "x")) * a,
        lambda a, w: lax.all_gather(a * w, "x", tiled=True)[::3] ** 2,
        lambda a, w: lax.psum_scatter(a * a * w, "x", tiled=True),
        lambda a, w: lax.all_to_all(jnp.exp(a * w), "x", 1, 1),
        lambda a, w: lax.ppermute(a * w, "x", [(0, 2), (3, 1)]) * a,
    ]

    def both(body):
        mapped = on_line(jax, body, (jax.P("x"), jax.P()))

        def loss(x, w):
            y = mapped(x, w)
            return (y.reshape(-1) * weights[: y.size]).sum()

        return jax.grad(loss, (0, 1))(x, w), jax.jvp(loss, (x, w), (w * x, w))[1]

    return jax.jit(lambda: [both(body) for body in bodies])()


def two_axes(jax):
    """Products over a mesh of two axes; an axis cut by both, in either order; one axis alone mapped."""
    lax, P, mesh = jax.lax, jax.P, square(jax)
    a, b = data(jax, 4, 8), data(jax, 8, 6)
    product = jax.shard_map(
        lambda a, b: lax.psum(a @ b, "y"), mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None)
    )
    turned = jax.shard_map(
        lambda a: a + lax.axis_index(("x", "y")), mesh=mesh, in_specs=P(("y", "x")), out_specs=P(None, ("x", "y"))
    )
    total = jax.shard_map(
        lambda a: lax.psum(a * lax.all_gather(a, ("x", "y"), axis=1, tiled=True).sum(), ("x", "y")),
        mesh=mesh, in_specs=P("y", "x"), out_specs=P(),
    )  # fmt: skip
    half = jax.shard_map(lambda a: lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"})
    found = lambda a, b: (jax.grad(lambda a, b: (product(a, b) ** 3).sum(), (0, 1))(a, b), total(a), half(a))
    return product(a, b), turned(data(jax, 8, 1)), jax.jit(found)(a, b)


def derivatives_inside(jax):
    """What is alike on all devices has one cotangent; unchecked, each device has its own."""
    lax, jnp, P = jax.lax, jax.numpy, jax.P
    w, x = data(jax, 3, start=5.0), data(jax, 8, 3)
    losses = {
        "own": lambda loss: loss,
        "total": lambda loss: lax.psum(loss, "x"),
        "mean": lambda loss: lax.pmean(loss, "x"),
    }

    def gradient(reduce, **options):
        def body(w, x):
            return jax.grad(lambda w: reduce(jnp.sum((x @ jnp.tanh(w)) ** 2)))(w)

        return on_line(jax, body, (P(), P("x")), P(), **options)

    def gathered(v, x):
        return lax.psum_scatter(
            jax.grad(lambda v: jnp.sum((x @ v) ** 2))(lax.all_gather(v, "x", tiled=True)), "x", tiled=True
        )

    def pulled(w, x):
        return jax.vjp(lambda w: lax.psum(x @ w, "x"), w)[1](jnp.arange(2.0))[0]

    def own(w, x):
        return jax.grad(lambda v: jnp.sum(x @ v) ** 2)(lax.pcast(w, "x", to="varying"))[None]

    def second(w, x):
        return jax.grad(lambda w: jnp.sum(jax.grad(lambda w: jnp.sum((x @ w) ** 3))(w) * w))(w)

    def same(w, x):
        return jax.grad(lambda a: jnp.sum(jax.grad(lambda a: (lax.pmean(a**3, "x") * x).sum())(a) * a))(x + 1 + w)

    def trained(w, x):
        def step(_, w):
            return w - 0.01 * jax.grad(lambda w: lax.pmean(jnp.mean((x @ w - 1) ** 2), "x"))(w)

        return lax.fori_loop(0, 5, step, w)

    functions = {
        **{name: gradient(reduce) for name, reduce in losses.items()},
        **{f"unchecked {name}": gradient(reduce, check_vma=False) for name, reduce in losses.items()},
        **{f.__name__: on_line(jax, f, (P(), P("x")), P()) for f in (pulled, second, trained)},
        **{f.__name__: on_line(jax, f, (P(), P("x"))) for f in (own, same)},
    }
    rest = on_line(jax, gathered, (P("x"), P("x")))(data(jax, 4), data(jax, 8, 4))
    return jax.jit(lambda w, x: {name: f(w, x) for name, f in functions.items()})(w, x), rest


def rules(jax):
    """A function whose backward rule adds up over devices, differentiated inside and outside."""
    lax, jnp, P = jax.lax, jax.numpy, jax.P
    w, x = data(jax, 3, start=5.0), data(jax, 8, 3)
    product = jax.custom_vjp(lambda w, x: x @ w)
    product.defvjp(lambda w, x: (x @ w, (w, x)), lambda kept, g: (lax.psum(g @ kept[1], "x"), jnp.outer(g, kept[0])))
    shared = jax.custom_vjp(lambda x: lax.psum(x, "x"))
    shared.defvjp(lambda x: (lax.psum(x, "x"), None), lambda _, g: (lax.pcast(3 * g, "x", to="varying"),))

    def inside(w, x):
        return jax.grad(lambda w: lax.psum(jnp.sum(jnp.sin(product(w, x))), "x"))(w)

    def loss(w, x):
        return jnp.sum(shared(jnp.sin(product(w, x))) ** 2)

    outside = on_line(jax, loss, (P(), P("x")), P())
    inner = on_line(jax, inside, (P(), P("x")), P())
    return jax.jit(lambda w, x: (inner(w, x), jax.grad(outside, (0, 1))(w, x)))(w, x)


def loops_and_lanes(jax):
    """Collectives in a scan, in a branch, and under a vmap of another axis, and what differentiates all that."""
    lax, jnp = jax.lax, jax.numpy
    x = data(jax, 8, 3)

    def scanned(a):
        def step(carry, row):
            carry = jnp.tanh(lax.ppermute(carry, "x", [(k, (k + 1) % 4) for k in range(4)]) + row)
            return carry, lax.psum(carry, "x")

        last, rows = lax.scan(step, a[0], a)
        return last[None] * rows

    def branched(a):
        return lax.cond(lax.psum(a.sum(), "x") > 0, lambda a: a - lax.pmean(a, "x"), lambda a: 2 * a, a)

    def lanes(a):
        return jax.vmap(lambda row: row / lax.psum(row, "x"))(a)

    def found(x):
        mapped = [on_line(jax, body) for body in (scanned, branched, lanes)]
        slopes = jax.grad(lambda x: sum((f(x) ** 2).sum() for f in mapped))(x)
        return [f(x) for f in mapped], slopes, [jax.vmap(f)(jnp.stack([x, -x])) for f in mapped]

    return jax.jit(found)(x)


def networks(jax):
    """Weights cut over one axis and examples over the other; layers computed again; noise by place; loops that differ."""
    lax, jnp, P = jax.lax, jax.numpy, jax.P
    a, b, x = data(jax, 3, 8), data(jax, 8, 3, start=2.0), data(jax, 8, 3, start=5.0)

    def layer(a, b, x):
        return lax.psum(jnp.tanh(x @ a) @ b, "y")

    def gradients(a, b, x):
        again = jax.checkpoint(layer)
        return jax.grad(lambda a, b: lax.pmean(jnp.sum(again(a, b, x) ** 2), "x"), (0, 1))(a, b)

    def ring(a, b):
        place, count = lax.axis_index("x"), lax.axis_size("x")

        def step(k, state):
            total, b = state
            block = lax.dynamic_slice_in_dim(a, ((place - k) % count) * b.shape[0], b.shape[0], 1)
            return total + block @ b, lax.ppermute(b, "x", [(k, (k + 1) % 4) for k in range(4)])

        return lax.fori_loop(0, count, step, (lax.pcast(jnp.zeros((2, 8)), "x", to="varying"), b))[0]

    def noise(key, x):
        return x + jax.random.normal(jax.random.fold_in(key, lax.axis_index("x")), x.shape)

    def until(x):
        return lax.while_loop(lambda x: x.sum() < 10, lambda x: 1.5 * x + 1, jnp.abs(x))

    weights = P(None, "y"), P("y")
    options = {"mesh": square(jax), "in_specs": (*weights, P("x"))}
    forward = jax.shard_map(layer, **options, out_specs=P("x"))
    backward = jax.shard_map(gradients, **options, out_specs=weights)
    both = data(jax, 8, 8)

    def found(a, b, x):
        slope = jax.grad(lambda a: (forward(a, b, x) ** 2).sum())(a)
        drawn = on_line(jax, noise, (P(), P("x")))(jax.random.key(3), x)
        return backward(a, b, x), slope, on_line(jax, ring, P("x"))(both, both), drawn, on_line(jax, until)(x)

    return jax.jit(found)(a, b, x)


def trees(jax):
    """Specifications that are prefixes of trees; arguments that are not cut; results that are alike, and are cut."""
    lax, P = jax.lax, jax.P
    body = lambda d, k: {"w": (d["a"] * k, lax.psum(d["b"][0], "x")), "k": k + d["b"][1].sum()[None]}
    mapped = on_line(jax, body, ({"a": P("x"), "b": P(None, "x")}, P()), {"w": (P("x"), P(None, None)), "k": P("x")})
    tree = {"a": data(jax, 4), "b": (data(jax, 2, 8), data(jax, 3, 4))}
    number = on_line(jax, lambda k: lax.axis_index("x")[None] + jax.numpy.int32(k.size), P(), P("x"))
    repeated = on_line(jax, lambda k: k * 1, P(), P("x"))
    return mapped(tree, jax.numpy.float64(2)), repeated(data(jax, 2)), number(data(jax, 3))


def arrays(jax):
    """Where parts are, by what arrays say."""
    P, mesh = jax.P, square(jax)
    x, found = np.arange(32.0).reshape(8, 4), []
    for spec in (P("x"), P(None, "y"), P("y", "x"), P(("x", "y"), None), P()):
        sharding = jax.NamedSharding(mesh, spec)
        made = jax.device_put(x, sharding)
        again = jax.make_array_from_callback(x.shape, sharding, lambda index: x[index] + 1)
        whole = jax.make_array_from_process_local_data(sharding, x)
        joined = jax.make_array_from_single_device_arrays(x.shape, sharding, [s.data for s in made.addressable_shards])
        for array in (made, again, whole, joined):
            found.append([(s.device.id, s.replica_id, np.asarray(s.data)) for s in array.addressable_shards])
            found.append((array.sharding.shard_shape(x.shape), array.is_fully_replicated, array.sharding == sharding))
            found.append([(d.id, x[i]) for d, i in sharding.devices_indices_map(x.shape).items()])
    rows = jax.NamedSharding(mesh, P("x"))
    kept = jax.jit(lambda x: (jax.lax.with_sharding_constraint(x, rows) + 1, x.sum()), out_shardings=(rows, None))
    moved = jax.jit(lambda x: x * 2, in_shardings=rows, out_shardings=jax.NamedSharding(mesh, P(None, "y")))(x)
    result, total = kept(x)
    found.append([result, total, moved, result.sharding == rows, moved.sharding.spec == P(None, "y")])
    found.append([moved.sharding.is_equivalent_to(jax.NamedSharding(mesh, s), 2) for s in (P(), P(None, "y"), P("y"))])
    found.append([jax.device_count(), jax.local_device_count(), jax.process_count(), [d.id for d in jax.devices()]])
    found.append([repr(jax.devices()[1]), str(jax.devices()[2]), jax.devices()[3].platform])
    return found


def refusals(jax):
    """What specifications must not be: missing axes, one axis twice, unequal parts, too many parts, other trees, ..."""
    P, x = jax.P, data(jax, 8)
    same = lambda a: a
    return [
        lambda: on_line(jax, same, P("z"))(x),
        lambda: on_line(jax, same, P("x", "x"))(data(jax, 4, 4)),
        lambda: jax.NamedSharding(line(jax), P("x", "x")),
        lambda: jax.NamedSharding(line(jax), P("y")),
        lambda: on_line(jax, same)(data(jax, 6)),
        lambda: on_line(jax, same, P("x", None))(x),
        lambda: on_line(jax, lambda a: a.sum())(x),
        lambda: on_line(jax, same, None, P())(x),
        lambda: on_line(jax, lambda a: jax.lax.all_gather(a, "x"), None, P())(x),
        lambda: on_line(jax, same, (P(), P()))(x),
        lambda: on_line(jax, lambda a: (a, a, a), None, (P("x"), P("x")))(x),
        lambda: jax.make_mesh((8,), ("x",)),
        lambda: jax.device_put(np.ones(6), jax.NamedSharding(line(jax), P("x"))),
        lambda: jax.jit(same, out_shardings=jax.NamedSharding(line(jax), P("x")))(np.ones(6)),
        lambda: jax.shard_map(same, mesh=square(jax), in_specs=P("x"), out_specs=P("x"), axis_names={"z"})(x),
        lambda: on_line(jax, lambda a: jax.grad(lambda w: (jax.lax.pmean(w, "x") * a).sum())(a) * 1, None, P())(x),
    ]


PROGRAMS = (collectives, derivatives, two_axes, derivatives_inside, rules, loops_and_lanes, networks, trees, arrays)


def results_of(jax: Any, program: Any) -> list[Any]:
    """Return what a program gives, as NumPy's arrays and Python's values, flat."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(program(jax))]


def refused(jax: Any) -> list[str]:
    """Return the class that callers would catch, of each of `refusals`."""
    found = []
    for call in refusals(jax):
        try:
            call()
        except Exception as error:  # noqa: BLE001 - JAX has classes of its own
            found.append("ValueError" if isinstance(error, ValueError) else type(error).__name__)
        else:
            found.append("")
    return found


if __name__ == "__main__":
    import jax

    with open(sys.argv[1], "wb") as file:
        pickle.dump(({p.__name__: results_of(jax, p) for p in PROGRAMS}, refused(jax)), file)
