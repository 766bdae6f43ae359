import jax
import jax.numpy as jnp
import optimistix as optx


def fn(y, args):
    a, b = y
    c = jnp.tanh(jnp.sum(b)) - a
    d = a**2 - jnp.sinh(b + 1)
    return c, d


start = (jnp.float32(0.0), jnp.zeros((2, 2), jnp.float32))
sol = optx.root_find(fn, optx.Newton(rtol=1e-5, atol=1e-5), start)
print(*[float(jnp.sum(v)) for v in sol.value])


def residuals(y, args):
    return 10 * (y[1] - y[0] ** 2), args - y[0]


found = optx.least_squares(
    residuals, optx.LevenbergMarquardt(1e-5, 1e-5), jnp.zeros(2, jnp.float32), args=jnp.float32(1.0)
)
print(*map(float, found.value))
low = optx.minimise(
    lambda y, a: jnp.sum((y - a) ** 4 + (y - a) ** 2),
    optx.BFGS(1e-5, 1e-5),
    jnp.zeros(2, jnp.float32),
    args=jnp.float32(1.0),
)
print(*map(float, low.value))
fixed = optx.fixed_point(
    lambda y, a: jnp.cos(a * y), optx.FixedPointIteration(1e-6, 1e-6), jnp.float32(0.5), args=jnp.float32(1.0)
)
print(float(fixed.value))
slope = jax.grad(
    lambda a: optx.root_find(lambda y, a: y**3 - a, optx.Newton(1e-6, 1e-6), jnp.float32(1.0), args=a).value
)
print(float(slope(jnp.float32(2.0))))
