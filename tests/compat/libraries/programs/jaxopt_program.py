import jax
import jax.numpy as jnp
import jaxopt

key = jax.random.PRNGKey(0)
x = jax.random.normal(key, (20, 3), jnp.float32)
y = x @ jnp.array([1.0, 2.0, -1.0], jnp.float32) + 0.1


def ridge(params, l2reg, X, y):
    return jnp.mean((X @ params - y) ** 2) + l2reg * jnp.sum(params**2)


for solver in (
    jaxopt.GradientDescent(ridge, maxiter=100),
    jaxopt.LBFGS(ridge, maxiter=20),
    jaxopt.BFGS(ridge, maxiter=20),
):
    params, state = solver.run(jnp.zeros(3, jnp.float32), l2reg=0.1, X=x, y=y)
    print(*map(float, params))
solver = jaxopt.LBFGS(ridge, maxiter=30)
slope = jax.jacobian(lambda reg: solver.run(jnp.zeros(3, jnp.float32), l2reg=reg, X=x, y=y).params)(0.1)
print(*map(float, slope))
pg = jaxopt.ProjectedGradient(lambda w, X, y: jnp.mean((X @ w - y) ** 2), jaxopt.projection.projection_simplex)
print(*map(float, pg.run(jnp.ones(3, jnp.float32) / 3, X=x, y=y).params))
qp = jaxopt.OSQP()
sol = qp.run(
    params_obj=(jnp.eye(2, dtype=jnp.float32), jnp.ones(2, jnp.float32)),
    params_ineq=(jnp.eye(2, dtype=jnp.float32), jnp.zeros(2, jnp.float32)),
).params
print(*[round(float(v), 3) + 0.0 for v in sol.primal])
