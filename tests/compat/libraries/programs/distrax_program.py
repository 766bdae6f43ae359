import distrax
import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(1234)
mu = jnp.array([-1.0, 0.0, 1.0], jnp.float32)
sigma = jnp.array([0.1, 0.2, 0.3], jnp.float32)
dist = distrax.MultivariateNormalDiag(mu, sigma)
samples = dist.sample(seed=key)
print(*map(float, samples), float(dist.log_prob(samples)))
flow = distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Chain([distrax.ScalarAffine(0.5, 2.0), distrax.Tanh()]))
draw, log_prob = jax.jit(lambda k: flow.sample_and_log_prob(seed=k))(key)
print(float(draw), float(log_prob), float(jax.grad(flow.log_prob)(jnp.float32(0.9))))
bijector = distrax.Lambda(jnp.tanh)
print(float(bijector.inverse(jnp.float32(0.3))), float(bijector.forward_log_det_jacobian(jnp.float32(0.3))))
categorical = distrax.Categorical(logits=mu)
print(float(categorical.entropy()), float(categorical.kl_divergence(distrax.Categorical(logits=sigma))))
print(int(jax.jit(lambda k: categorical.sample(seed=k))(key)))
