import jax
import jax.numpy as jnp
import jax.random as jr
import lineax as lx

matrix = jr.normal(jr.PRNGKey(0), (4, 4), jnp.float32) + 3 * jnp.eye(4, dtype=jnp.float32)
vector = jr.normal(jr.PRNGKey(1), (4,), jnp.float32)


def solve(m, v, solver):
    return lx.linear_solve(lx.MatrixLinearOperator(m), v, solver).value


for solver in (lx.LU(), lx.QR(), lx.SVD(), lx.AutoLinearSolver(well_posed=True)):
    print(*map(float, solve(matrix, vector, solver)))
symmetric = matrix @ matrix.T
operator = lx.MatrixLinearOperator(symmetric, lx.positive_semidefinite_tag)
print(*map(float, lx.linear_solve(operator, vector, lx.CG(1e-4, 1e-4)).value))
print(*map(float, lx.linear_solve(operator, vector, lx.Cholesky()).value))
tall = jr.normal(jr.PRNGKey(2), (6, 3), jnp.float32)
print(
    *map(
        float,
        lx.linear_solve(
            lx.MatrixLinearOperator(tall), jnp.ones(6, jnp.float32), lx.AutoLinearSolver(well_posed=None)
        ).value,
    )
)
f = jax.jit(jax.grad(lambda m, v: solve(m, v, lx.LU()).sum(), argnums=(0, 1)))
print(*[float(g.sum()) for g in f(matrix, vector)])
batch = jnp.stack([vector, 2 * vector])
print(float(jax.vmap(lambda v: solve(matrix, v, lx.LU()))(batch).sum()))
jac = lx.JacobianLinearOperator(lambda x, args: jnp.sin(x) + 2 * x, vector)
print(*map(float, lx.linear_solve(jac, vector, lx.AutoLinearSolver(well_posed=True)).value))
