import diffrax
import jax
import jax.numpy as jnp
from diffrax import Dopri5, ODETerm, PIDController, SaveAt, diffeqsolve

term = ODETerm(lambda t, y, args: -args * y)


def solve(k, **options):
    saveat = SaveAt(ts=jnp.array([0.0, 1.0, 2.0, 3.0], jnp.float32))
    controller = PIDController(rtol=1e-3, atol=1e-5)  # the first step's error is then above rounding's
    return diffeqsolve(
        term,
        Dopri5(),
        t0=0,
        t1=3,
        dt0=0.1,
        y0=jnp.array([1.0, 2.0], jnp.float32),
        args=k,
        saveat=saveat,
        stepsize_controller=controller,
        **options,
    )


k = jnp.float32(0.5)
sol = solve(k)
print(*map(float, sol.ts), *map(float, sol.ys.ravel()), int(sol.stats["num_steps"]))
print(float(jax.grad(lambda k: solve(k).ys.sum())(k)))
print(float(jax.grad(lambda k: solve(k, adjoint=diffrax.BacksolveAdjoint()).ys.sum())(k)))


def robertson(t, y, args):
    k1, k2, k3 = args
    f0 = -k1 * y[0] + k3 * y[1] * y[2]
    f1 = k1 * y[0] - k2 * y[1] ** 2 - k3 * y[1] * y[2]
    return jnp.stack([f0, f1, k2 * y[1] ** 2])


def stiff(args):
    return diffeqsolve(
        ODETerm(robertson),
        diffrax.Kvaerno5(),
        t0=0.0,
        t1=10.0,
        dt0=2e-4,
        y0=jnp.array([1.0, 0.0, 0.0], jnp.float32),
        args=args,
        stepsize_controller=PIDController(rtol=1e-4, atol=1e-6),
    ).ys[-1]


args = tuple(map(jnp.float32, (0.04, 3e3, 1e2)))
print(*map(float, jax.jit(stiff)(args)))
