import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

y = jnp.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], jnp.float32)
sigma = jnp.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0], jnp.float32)


def eight_schools(y=None):
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("J", 8):
        theta = numpyro.sample(
            "theta", dist.TransformedDistribution(dist.Normal(0.0, 1.0), dist.transforms.AffineTransform(mu, tau))
        )
        numpyro.sample("obs", dist.Normal(theta, sigma), obs=y)


trace = numpyro.handlers.trace(numpyro.handlers.seed(eight_schools, 0)).get_trace(y)
print(*[float(jnp.sum(site["value"])) for site in trace.values() if site["type"] == "sample"])
guide = AutoNormal(eight_schools)
svi = SVI(eight_schools, guide, numpyro.optim.Adam(0.01), Trace_ELBO())
state = svi.init(jax.random.PRNGKey(1), y)
for _ in range(5):
    state, loss = jax.jit(svi.update)(state, y)
print(float(loss))
mcmc = MCMC(NUTS(eight_schools), num_warmup=4, num_samples=4, progress_bar=False)
mcmc.run(jax.random.PRNGKey(0), y, extra_fields=("num_steps",))  # longer chains amplify the order of rounding
samples = mcmc.get_samples()
print(
    float(jnp.mean(samples["mu"])), float(jnp.mean(samples["theta"])), *map(int, mcmc.get_extra_fields()["num_steps"])
)
draws = Predictive(eight_schools, samples)(jax.random.PRNGKey(2))
print(draws["obs"].shape)
