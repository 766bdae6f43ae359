import blackjax
import jax
import jax.numpy as jnp

observed = jax.random.normal(jax.random.key(1), (50,), jnp.float32) * 2 + 10


def logdensity(x):
    return jnp.sum(jax.scipy.stats.norm.logpdf(observed, x["loc"], jnp.exp(x["log_scale"])))


def run(algorithm, key, steps):
    state = algorithm.init({"loc": jnp.float32(9.0), "log_scale": jnp.float32(0.5)})
    step = jax.jit(algorithm.step)
    for k in range(steps):
        state, info = step(jax.random.fold_in(key, k), state)
    return state.position


key = jax.random.key(0)
mass = jnp.array([0.05, 0.05], jnp.float32)
for algorithm, steps in (
    (blackjax.hmc(logdensity, 1e-1, mass, num_integration_steps=5), 10),
    (blackjax.nuts(logdensity, 1e-1, mass), 5),
    (blackjax.mala(logdensity, 1e-4), 5),
):
    position = run(algorithm, key, steps)
    print(float(position["loc"]), float(position["log_scale"]))
