import diffrax
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def robertson(t, y, args):
    k1, k2, k3 = args
    f0 = -k1 * y[0] + k3 * y[1] * y[2]
    f1 = k1 * y[0] - k2 * y[1] ** 2 - k3 * y[1] * y[2]
    return jnp.stack([f0, f1, k2 * y[1] ** 2])


def solve(args):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(robertson),
        diffrax.Kvaerno5(),
        t0=0.0,
        t1=100.0,
        dt0=2e-4,
        y0=jnp.array([1.0, 0.0, 0.0]),
        args=args,
        stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-8),
    ).ys[-1]


args = jnp.array([0.04, 3e7, 1e4])
solved = jax.jit(solve)
slope = jax.jit(jax.grad(lambda args: solve(args)[2]))
print(*[f"{float(x):.6g}" for x in solved(args)], *[f"{float(x):.5g}" for x in slope(args)])
for k in range(200):
    found = solved(args * (1 + k * 1e-3))
print(f"{float(found[2]):.6g}")
