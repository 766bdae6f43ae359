"""Programs that people differentiate, written once: ``program(lib, *arguments)`` with `numhlo` or `jax` for ``lib``.

Each returns a scalar of its first argument, a pytree of parameters. `test_differentiable_programs` runs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

R = np.random.default_rng(3)
X, Y = R.normal(size=(5, 4)), R.integers(0, 3, size=5)
SERIES = R.normal(size=(6, 3))


def normal(*shape: int, scale: float = 0.5) -> np.ndarray:
    return scale * R.normal(size=shape)


def log_softmax(np: Any, x: Any) -> Any:
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def mlp(lib: Any, p: Any, x: Any, y: Any) -> Any:
    np = lib.numpy
    hidden = np.tanh(x @ p["w"] + p["b"])
    scores = log_softmax(np, np.maximum(hidden, 0.1) @ p["v"])
    return -np.take_along_axis(scores, y[:, None], axis=1).mean()


def mlp_step(lib: Any, p: Any, x: Any, y: Any) -> Any:
    """The loss after a step of training, so that its gradient goes through one."""
    slope = lib.grad(lambda p: mlp(lib, p, x, y))(p)
    return mlp(lib, {k: p[k] - 0.1 * slope[k] for k in p}, x, y)


def convolution(lib: Any, p: Any, x: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    y = np.maximum(lax.conv_general_dilated(x, p["k"], (1, 1), "SAME"), 0)
    pooled = lax.reduce_window(y, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return (np.tanh(pooled.reshape(x.shape[0], -1) @ p["w"]) ** 2).sum()


def lstm(lib: Any, p: Any, xs: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    gate = lambda x: 1 / (1 + np.exp(-x))

    def step(state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = np.split(np.concatenate([x, h]) @ p["w"] + p["b"], 4)
        c = gate(f) * c + gate(i) * np.tanh(g)
        h = gate(o) * np.tanh(c)
        return (h, c), h

    _, hs = lax.scan(step, (np.zeros(2), np.zeros(2)), xs)
    return (hs**2).sum()


def gru(lib: Any, p: Any, xs: Any) -> Any:
    np, lax = lib.numpy, lib.lax

    def step(h: Any, x: Any) -> Any:
        z, r = np.split(lax.logistic(x @ p["w"] + h @ p["u"]), 2)
        new = np.tanh(x @ p["v"] + (r * h) @ p["t"])
        return (1 - z) * h + z * new, None

    h, _ = lax.scan(step, np.zeros(2), xs)
    return (h * np.arange(1.0, 3.0)).sum()


def attention(lib: Any, p: Any, x: Any) -> Any:
    np = lib.numpy
    q, k, v = (np.einsum("td,dhe->hte", x, p[name]) for name in "qkv")
    scores = np.einsum("hte,hse->hts", q, k) / np.sqrt(2.0)
    scores = np.where(np.tril(np.ones((x.shape[0], x.shape[0]), bool)), scores, -1e30)
    return (np.einsum("hts,hse->the", np.exp(log_softmax(np, scores)), v) ** 2).sum()


def flow(lib: Any, p: Any, x: Any) -> Any:
    """A RealNVP: two coupling layers, and the log density of data."""
    np = lib.numpy
    log_det = 0.0
    for w in (p["a"], p["b"]):
        first, second = x[:, :2], x[:, 2:]
        scale, shift = np.split(np.tanh(first @ w), 2, axis=1)
        x = np.concatenate([second * np.exp(scale) + shift, first], axis=1)
        log_det = log_det + scale.sum(axis=1)
    return (0.5 * (x**2).sum(axis=1) - log_det).mean()


def runge_kutta(lib: Any, p: Any, y: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    field = lambda y: np.stack([p["a"] * y[0] - p["b"] * y[0] * y[1], -y[1] + p["b"] * y[0] * y[1]])

    def step(y: Any, h: Any) -> Any:
        k1 = field(y)
        k2 = field(y + h / 2 * k1)
        k3 = field(y + h / 2 * k2)
        k4 = field(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), y[0]

    last, path = lax.scan(step, y, np.full(8, 0.1))
    return last.sum() + (path**2).mean()


def kalman(lib: Any, p: Any, ys: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    noise = np.exp(p["q"])[:, None] * np.eye(2)

    def step(state: Any, y: Any) -> Any:
        m, v = state
        m, v = p["a"] @ m, p["a"] @ v @ p["a"].T + noise
        s = v[:1, :1] + np.exp(p["r"])
        gain = np.linalg.solve(s, v[:1]).T
        error = y - m[:1]
        like = 0.5 * (error @ np.linalg.solve(s, error) + np.linalg.slogdet(s)[1])
        return (m + gain @ error, v - gain @ v[:1]), like

    _, likes = lax.scan(step, (np.zeros(2), np.eye(2)), ys[:, :1])
    return likes.sum()


def hidden_markov(lib: Any, p: Any, ys: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    transition, emission = log_softmax(np, p["a"]), log_softmax(np, p["b"])

    def step(alpha: Any, y: Any) -> Any:
        moved = alpha[:, None] + transition
        top = moved.max(axis=0)
        return top + np.log(np.exp(moved - top).sum(axis=0)) + emission[:, y], None

    alpha, _ = lax.scan(step, emission[:, ys[0]], ys[1:])
    return -np.log(np.exp(alpha).sum())


def viterbi(lib: Any, p: Any, ys: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    transition, emission = log_softmax(np, p["a"]), log_softmax(np, p["b"])

    def step(best: Any, y: Any) -> Any:
        scores = best[:, None] + transition
        return scores.max(axis=0) + emission[:, y], scores.argmax(axis=0)

    best, back = lax.scan(step, emission[:, ys[0]], ys[1:])
    _, path = lax.scan(lambda s, row: (row[s], s), best.argmax(), back, reverse=True)
    return best.max() + 0 * path.sum()


def implicit_solve(lib: Any, p: Any, b: Any) -> Any:
    """Newton's method for x + w tanh(x) = b, differentiated by the implicit function theorem."""
    np = lib.numpy

    @lib.custom_vjp
    def solve(w: Any, b: Any) -> Any:
        residual = lambda x: x + w @ np.tanh(x) - b
        step = lambda _, x: x - np.linalg.solve(lib.jacfwd(residual)(x), residual(x))
        return lib.lax.fori_loop(0, 12, step, b)

    def forward(w: Any, b: Any) -> Any:
        x = solve(w, b)
        return x, (w, x)

    def backward(kept: Any, g: Any) -> Any:
        w, x = kept
        back = np.linalg.solve((np.eye(3) + w * (1 - np.tanh(x) ** 2)).T, g)
        return -np.outer(back, np.tanh(x)), back

    solve.defvjp(forward, backward)
    return (solve(0.3 * p["w"], b + p["c"]) ** 2).sum()


def hamiltonian(lib: Any, p: Any, x: Any) -> Any:
    """Leapfrog steps of Hamiltonian Monte Carlo, differentiated by start and mass."""
    np, lax = lib.numpy, lib.lax
    energy = lambda q: (np.log1p(np.exp(-x @ q))).sum() + 0.5 * (q**2).sum()
    force = lib.grad(energy)

    def step(_: Any, state: Any) -> Any:
        q, v = state
        v = v - 0.05 * force(q)
        q = q + 0.1 * v / np.exp(p["mass"])
        return q, v - 0.05 * force(q)

    q, v = lax.fori_loop(0, 5, step, (p["q"], p["v"]))
    return energy(q) + 0.5 * (v**2).sum()


def hessian_products(lib: Any, p: Any, x: Any, y: Any) -> Any:
    slope = lib.grad(lambda p: mlp(lib, p, x, y))
    moved = lib.jvp(slope, (p,), (p,))[1]
    return sum((moved[k] * p[k]).sum() for k in p)


def physics_informed(lib: Any, p: Any, xs: Any) -> Any:
    """The residual of u'' + u = sin, and a boundary."""
    np = lib.numpy
    u = lambda x: (np.tanh(x * p["w"] + p["b"]) * p["v"]).sum()
    second = lib.vmap(lib.grad(lib.grad(u)))
    return ((second(xs) + lib.vmap(u)(xs) - np.sin(xs)) ** 2).mean() + u(0.0) ** 2


def gaussian_process(lib: Any, p: Any, x: Any, y: Any) -> Any:
    np = lib.numpy
    distance = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    kernel = np.exp(p["a"] - distance / np.exp(p["l"])) + np.exp(p["s"]) * np.eye(x.shape[0])
    factor = np.linalg.cholesky(kernel)
    alpha = np.linalg.solve(kernel, y)
    return 0.5 * y @ alpha + np.log(np.diagonal(factor)).sum()


def factorization(lib: Any, p: Any, rows: Any, columns: Any, ratings: Any) -> Any:
    predicted = (p["u"][rows] * p["v"][columns]).sum(axis=1) + p["b"][rows]
    return ((predicted - ratings) ** 2).sum() + 0.1 * (p["u"] ** 2).sum()


def embedding_update(lib: Any, p: Any, tokens: Any) -> Any:
    np = lib.numpy
    table = p["e"].at[tokens].add(0.1 * np.tanh(p["e"][tokens]))
    table = table.at[tokens[0]].set(p["w"] * table[tokens[1]]).at[tokens[2]].multiply(2.0)
    return (table[tokens] ** 3).sum() + table.max()


def batch_norm(lib: Any, p: Any, x: Any) -> Any:
    np = lib.numpy
    h = x @ p["w"]
    mean, variance = h.mean(axis=0), h.var(axis=0)
    running = 0.9 * lib.lax.stop_gradient(mean) + 0.1 * mean
    return np.tanh((h - mean) / np.sqrt(variance + 1e-3) * p["g"] + p["b"]).sum() + (running**2).sum()


def graph(lib: Any, p: Any, x: Any, sources: Any, targets: Any) -> Any:
    """Message passing: sums and maxima over edges."""
    np = lib.numpy
    segment = lib.ops
    messages = np.tanh(x[sources] @ p["w"])
    summed = segment.segment_sum(messages, targets, 5)
    greatest = segment.segment_max(messages @ p["w"].T, targets, 5)
    greatest = np.where(np.isfinite(greatest), greatest, 0.0)
    return (np.tanh(summed @ p["v"]) ** 2).sum() + greatest.sum()


def soft_sort(lib: Any, p: Any, x: Any) -> Any:
    np = lib.numpy
    scores = x @ p["w"]
    ordered = np.sort(scores)[::-1]
    match = np.exp(log_softmax(np, -np.abs(ordered[:, None] - scores[None]) / 0.3))
    return (match @ scores * np.arange(1.0, 6.0)).sum()


def alignment(lib: Any, p: Any, xs: Any, labels: Any) -> Any:
    """CTC's forward recursion, on probabilities, with a blank between labels."""
    np, lax = lib.numpy, lib.lax
    probability = np.exp(log_softmax(np, xs @ p["w"]))
    padded = np.stack([np.zeros_like(labels), labels], axis=1).reshape(-1)
    may_skip = np.concatenate([np.zeros(2), (padded[2:] != padded[:-2]) * (padded[2:] != 0.0)])

    def step(alpha: Any, row: Any) -> Any:
        once = np.concatenate([np.zeros(1), alpha[:-1]])
        twice = np.concatenate([np.zeros(2), alpha[:-2]]) * may_skip
        return (alpha + once + twice) * row[padded], None

    start = np.where(np.arange(padded.shape[0]) < 2, probability[0][padded], 0.0)
    alpha, _ = lax.scan(step, start, probability[1:])
    return -np.log(alpha[-1] + alpha[-2])


def newton(lib: Any, p: Any, x: Any, y: Any) -> Any:
    """Two Newton steps of logistic regression, differentiated by the start."""
    np = lib.numpy
    loss = lambda w: np.log1p(np.exp(-(2.0 * y - 1) * (x @ w))).sum() + 0.1 * (w**2).sum()
    w = p["w"]
    for _ in range(2):
        w = w - np.linalg.solve(lib.hessian(loss)(w), lib.grad(loss)(w))
    return loss(w * p["s"])


def power_iteration(lib: Any, p: Any, x: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    data = x @ p["w"]
    covariance = (data - data.mean(axis=0)).T @ (data - data.mean(axis=0))

    def step(_: Any, v: Any) -> Any:
        v = covariance @ v
        return v / np.sqrt((v**2).sum())

    v = lax.fori_loop(0, 20, step, np.ones(3) / np.sqrt(3.0))
    return v @ covariance @ v


def neural_ode(lib: Any, p: Any, y: Any) -> Any:
    """A network's flow, differentiated by its adjoint equation, solved backwards."""
    np, lax = lib.numpy, lib.lax
    field = lambda w, y: np.tanh(y @ w)

    @lib.custom_vjp
    def solve(w: Any, y: Any) -> Any:
        return lax.scan(lambda y, _: (y + 0.05 * field(w, y), None), y, None, length=10)[0]

    def forward(w: Any, y: Any) -> Any:
        last = solve(w, y)
        return last, (w, last)

    def backward(kept: Any, g: Any) -> Any:
        w, y = kept

        def step(state: Any, _: Any) -> Any:
            y, a, s = state
            slope, pull = lib.vjp(field, w, y)
            dw, dy = pull(a)
            return (y - 0.05 * slope, a + 0.05 * dy, s + 0.05 * dw), None

        (_, a, s), _ = lax.scan(step, (y, g, np.zeros_like(w)), None, length=10)
        return s, a

    solve.defvjp(forward, backward)
    return (solve(p["w"], y + p["b"]) ** 2).sum()


def autoencoder(lib: Any, p: Any, x: Any, noise: Any) -> Any:
    np = lib.numpy
    mean, log_scale = np.split(np.tanh(x @ p["e"]), 2, axis=1)
    code = mean + np.exp(log_scale) * noise
    error = ((code @ p["d"] - x) ** 2).sum(axis=1)
    divergence = 0.5 * (np.exp(2 * log_scale) + mean**2 - 1 - 2 * log_scale).sum(axis=1)
    return (error + divergence).mean()


def policy_gradient(lib: Any, p: Any, states: Any, actions: Any, rewards: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    _, returns = lax.scan(lambda total, r: (r + 0.9 * total,) * 2, 0.0, rewards, reverse=True)
    value = np.tanh(states @ p["v"])
    scores = log_softmax(np, states @ p["w"])
    chosen = np.take_along_axis(scores, actions[:, None], axis=1)[:, 0]
    advantage = lax.stop_gradient(returns - value)
    return -(chosen * advantage).sum() + ((returns - value) ** 2).mean() - 0.01 * (np.exp(scores) * scores).sum()


def ray_marching(lib: Any, p: Any, directions: Any) -> Any:
    """Light through a Gaussian cloud; each ray goes on while it has light."""
    np, lax = lib.numpy, lib.lax

    def ray(direction: Any) -> Any:
        def step(state: Any, t: Any) -> Any:
            light, seen = state
            density = np.exp(p["a"] - (((t * direction - p["c"]) / 0.5) ** 2).sum())
            dimmed = lax.cond(light > 0.2, lambda l: l * np.exp(-density * 0.3), lambda l: l, light)
            return (dimmed, seen + (light - dimmed) * t), None

        (light, seen), _ = lax.scan(step, (1.0, 0.0), np.linspace(0.1, 2.0, 6))
        return seen + light**2

    return lib.vmap(ray)(directions).sum()


def spline(lib: Any, p: Any, x: Any, y: Any) -> Any:
    np = lib.numpy
    place = np.clip(np.searchsorted(np.linspace(-3.0, 3.0, 7), x) - 1, 0, 5)
    t = x - (place - 3.0)
    a, b = p["c"][place], p["c"][place + 1]
    smooth = t * t * (3 - 2 * t)
    return ((a * (1 - smooth) + b * smooth - y) ** 2).sum() + (np.diff(p["c"], 2) ** 2).sum()


def contrastive(lib: Any, p: Any, x: Any, z: Any) -> Any:
    np = lib.numpy
    norm = lambda v: v / np.linalg.norm(v, axis=1, keepdims=True)
    similar = norm(x @ p["w"]) @ norm(z @ p["w"]).T / 0.2
    return -(np.diagonal(log_softmax(np, similar)) + np.diagonal(log_softmax(np, similar.T))).mean()


def transformer(lib: Any, p: Any, x: Any) -> Any:
    np = lib.numpy

    def normed(x: Any, g: Any) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        return g * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)

    h = normed(x, p["g"])
    scores = (h @ p["q"]) @ (h @ p["k"]).T / 2
    x = x + np.exp(log_softmax(np, scores)) @ (h @ p["v"])
    h = normed(x, p["g"])
    gelu = lambda a: 0.5 * a * (1 + np.tanh(0.79788456 * (a + 0.044715 * a**3)))
    return ((x + gelu(h @ p["w"]) @ p["w"].T) ** 2).mean()


def checkpointed_rnn(lib: Any, p: Any, xs: Any) -> Any:
    np, lax = lib.numpy, lib.lax
    step = lib.checkpoint(lambda h, x: (np.tanh(h @ p["u"] + x @ p["w"]), (h**2).sum()))
    h, ys = lax.scan(step, p["h"], xs)
    return h.sum() + ys.sum()


W2 = {"w": normal(3, 3)}
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mlp": (mlp, ({"w": normal(4, 3), "b": normal(3), "v": normal(3, 3)}, X, Y)),
    "mlp step": (mlp_step, ({"w": normal(4, 3), "b": normal(3), "v": normal(3, 3)}, X, Y)),
    "convolution": (convolution, ({"k": normal(2, 1, 3, 3), "w": normal(8, 2)}, normal(2, 1, 4, 4))),
    "lstm": (lstm, ({"w": normal(5, 8), "b": normal(8)}, SERIES)),
    "gru": (gru, ({"w": normal(3, 4), "u": normal(2, 4), "v": normal(3, 2), "t": normal(2, 2)}, SERIES)),
    "attention": (attention, ({name: normal(3, 2, 2) for name in "qkv"}, SERIES)),
    "flow": (flow, ({"a": normal(2, 4), "b": normal(2, 4)}, X)),
    "runge-kutta": (runge_kutta, ({"a": np.array(0.7), "b": np.array(0.4)}, np.array([1.0, 0.5]))),
    "kalman": (kalman, ({"a": normal(2, 2), "q": normal(2), "r": np.array(0.1)}, SERIES)),
    "hidden markov": (hidden_markov, ({"a": normal(3, 3), "b": normal(3, 3)}, Y)),
    "viterbi": (viterbi, ({"a": normal(3, 3), "b": normal(3, 3)}, Y)),
    "implicit solve": (implicit_solve, ({**W2, "c": normal(3)}, normal(3))),
    "hamiltonian": (hamiltonian, ({"q": normal(4), "v": normal(4), "mass": normal(4)}, X)),
    "hessian products": (hessian_products, ({"w": normal(4, 3), "b": normal(3), "v": normal(3, 3)}, X, Y)),
    "physics": (physics_informed, ({name: normal(4) for name in "wbv"}, normal(5))),
    "gaussian process": (gaussian_process, ({"a": np.array(0.1), "l": np.array(0.3), "s": np.array(-1.0)}, X, X[:, 0])),
    "factorization": (
        factorization,
        (
            {"u": normal(4, 2), "v": normal(3, 2), "b": normal(4)},
            np.array([0, 3, 3, 1]),
            np.array([2, 0, 0, 1]),
            X[:4, 0],
        ),
    ),
    "embedding": (embedding_update, ({"e": normal(5, 3), "w": normal(3)}, np.array([1, 4, 2, 1]))),
    "batch norm": (batch_norm, ({"w": normal(4, 3), "g": normal(3), "b": normal(3)}, X)),
    "graph": (
        graph,
        ({"w": normal(4, 2), "v": normal(2, 2)}, X, np.array([0, 1, 2, 4, 4]), np.array([1, 1, 3, 0, 1])),
    ),
    "soft sort": (soft_sort, ({"w": normal(4)}, X)),
    "alignment": (alignment, ({"w": normal(3, 3)}, SERIES, np.array([1, 2]))),
    "newton": (newton, ({"w": normal(4), "s": np.array(1.1)}, X, (Y > 0) * 1.0)),
    "power iteration": (power_iteration, ({"w": normal(4, 3)}, X)),
    "neural ode": (neural_ode, ({**W2, "b": normal(3)}, normal(3))),
    "autoencoder": (autoencoder, ({"e": normal(4, 4), "d": normal(2, 4)}, X, normal(5, 2))),
    "policy gradient": (policy_gradient, ({"w": normal(4, 3), "v": normal(4)}, X, Y, normal(5))),
    "ray marching": (ray_marching, ({"a": np.array(1.0), "c": normal(3)}, normal(4, 3))),
    "spline": (spline, ({"c": normal(7)}, X[:, 0], X[:, 1])),
    "contrastive": (contrastive, ({"w": normal(4, 3)}, X, normal(5, 4))),
    "transformer": (transformer, ({"g": normal(4), **{k: normal(4, 4) for k in "qkvw"}}, X)),
    "checkpointed rnn": (checkpointed_rnn, ({"u": normal(3, 3), "w": normal(3, 3), "h": normal(3)}, SERIES)),
}
"""Name to program and arguments."""
