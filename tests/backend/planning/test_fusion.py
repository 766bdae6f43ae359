"""Which ops end up in one kernel: the number of launches is what users pay."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from numhlo.backend.program import Launch, Obstacle
from tests.backend.programs import all_steps, evaluated, from_jax, launched, plan

X = np.ones((30, 40), np.float32)
ROW = np.ones(40, np.float32)


def launches(function, *arguments):
    program = plan(from_jax(function, *arguments))
    assert not evaluated(program)
    return launched(program)


def test_elementwise_ops_are_one_kernel_with_many_results():
    assert len(launches(lambda x, y: (jnp.exp(x) * y + 1, jnp.sin(x), x - y), X, X)) == 1


def test_elements_that_lie_far_apart_are_reckoned_with():
    """A launch is cut into pieces of some 20 ms by what it reads, so that it can be interrupted between two of them."""
    index = np.zeros(2_000_000, np.int64)

    def read(function, *arguments):
        return sum(step.bytes for step in all_steps(plan(from_jax(function, *arguments))) if isinstance(step, Launch))

    def gather(size):
        return read(lambda x, i: x[i], jax.ShapeDtypeStruct((size,), np.float64), index)

    line = 64 * index.size
    assert gather(1000) < line < gather(50_000_000)
    assert read(lambda i: i[i][i][i], index) > 3 * line


def test_views_cost_nothing():
    names = launches(lambda x, y: x[::2, 1:].T + y[:39, None] * jnp.flip(x)[:15, :39].T, X, ROW)
    assert len(names) == 1


def test_producers_are_computed_in_the_reduction():
    assert len(launches(lambda x: jnp.sum(jnp.exp(x) * 2, axis=1), X)) == 1
    assert len(launches(lambda x: (jnp.sum(x, 1), jnp.max(x * 2, 1)), X)) == 1


def test_passes_over_rows_are_one_kernel():
    def normalized(x, y):
        d = x - x.mean(1, keepdims=True)
        return d / jnp.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * y, d.max(1)

    assert len(launches(jax.nn.softmax, X)) == 1
    assert len(launches(normalized, X, ROW)) == 1
    assert len(launches(lambda x: jax.nn.logsumexp(x, axis=1), X)) == 1
    assert len(launches(lambda x: jax.nn.log_softmax(x, axis=-1), X.reshape(5, 6, 40))) == 1


def test_passes_over_columns_are_not():
    assert len(launches(lambda x: jax.nn.softmax(x, axis=0), X)) == 4


def test_passes_that_meet_across_rows_are_not():
    assert len(launches(lambda x: x / x.sum(1, keepdims=True)[::-1], X)) == 2


def test_row_values_are_computed_once_a_row():
    def normalized(x, y):
        return (x - jnp.sqrt(y[:, None] * 2 + 1)) * 2

    (launch,) = all_steps(plan(from_jax(normalized, X, X[:, 0])))
    assert isinstance(launch, Launch)
    lines = launch.kernel.source.splitlines()
    root = next(line for line in lines if "square_root(" in line and "import" not in line)
    loop = next(line for line in lines if "for i1" in line)
    assert len(root) - len(root.lstrip()) == len(loop) - len(loop.lstrip())


def test_dear_values_are_not_computed_once_a_row():
    assert len(launches(lambda x, y: x + jnp.exp(y), X, ROW)) == 2


def test_cheap_values_are_computed_wherever_they_are_needed():
    def mask(x):
        rows = jnp.arange(30)[:, None] >= jnp.arange(40)
        return jnp.where(rows, x, 0), jnp.sum(jnp.where(rows, x, 1), axis=0)

    assert all("compare" in name or "select" in name for name in launches(mask, X))


def test_what_small_arrays_spread_to_is_never_stored():
    """Differences of all pairs are computed again in each reduction; where they are read from an array, not."""

    def forces(x, w):
        apart = x[None, :, :] - x[:, None, :]
        return ((apart**2).sum(axis=2)[:, :, None] * apart).sum(axis=1), jnp.abs(apart).max(axis=0) * w

    def stored(function, *arguments):
        program = plan(from_jax(function, *arguments))
        assert not evaluated(program)
        return max(b.type.size for b in program.buffers)

    x = np.ones((80, 3))
    assert stored(forces, x, x) == 80 * 3
    assert stored(lambda y: (jnp.sum(y - 1.0, 1)[:, None] * (y - 1.0)).sum(0), np.ones((80, 90))) == 80 * 90


def test_equal_layers_share_their_kernels():
    def layers(x, w):
        for _ in range(6):
            x = jnp.tanh(x @ w + 1)
        return x

    program = plan(from_jax(layers, np.ones((64, 64), np.float32), np.ones((64, 64), np.float32)))
    assert len(launched(program)) == 12
    assert len(program.kernels) == 3  # in place, but for the last one, which writes the result


def test_kernels_are_independent_of_shapes():
    def function(x, y):
        return jnp.exp(x - y) / jnp.sum(x, axis=1, keepdims=True), jnp.mean(x * y, axis=0)

    first = plan(from_jax(function, np.ones((30, 40), np.float32), np.ones(40, np.float32)))
    second = plan(from_jax(function, np.ones((500, 70), np.float32), np.ones(70, np.float32)))
    assert first.kernels == second.kernels


def test_ops_keep_their_order_of_effects_and_long_chains_are_cut():
    def chain(x):
        for k in range(250):
            x = jnp.sin(x) + k
        return x

    names = launches(chain, X)
    assert 3 <= len(names) <= 8


def test_passes_over_rows_share_kernels_however_many_there_are():
    def softmaxes(x):
        for _ in range(120):
            e = jnp.exp(x - x.max(1, keepdims=True))
            x = e / e.sum(1, keepdims=True)
        return x

    kernels = plan(from_jax(softmaxes, X)).kernels
    assert len(kernels) <= 8
    assert max(len(kernel.source) for kernel in kernels) < 20_000  # compilers take time for each line


def test_notes_say_what_runs_on_numpy():
    program = plan(from_jax(lambda x: jax.lax.linalg.triangular_solve(x, x), np.eye(9).astype(jnp.bfloat16)))
    assert evaluated(program) == ["triangular_solve"]
    assert any("triangular_solve runs on NumPy" in note for note in program.notes)


def test_steps_of_a_search_are_written_once():
    def search(table, x):
        place = jnp.zeros(x.shape, jnp.int32)
        for step in (256, 128, 64, 32, 16, 8, 4, 2, 1):
            place = place + jnp.where(table[place] < x, step, 0)
        return place

    program = plan(from_jax(search, np.ones(600, np.float32), ROW))
    (launch,) = [step for step in all_steps(program) if isinstance(step, Launch)]
    assert launch.kernel.source.count("load_f32(") == 10


def test_dear_values_of_parts_are_computed_once():
    def parts(x):
        y = jnp.cos(jnp.exp(x))
        return jnp.concatenate([y * (k + 0.5) for k in range(9)])

    def parts_of_slices(x):
        y = jnp.cos(x)
        return jnp.concatenate([y[k:] * 2 for k in range(12)])

    for function in (parts, parts_of_slices):
        first, *rest = all_steps(plan(from_jax(function, X)))
        assert "cosine" in first.kernel.name
        assert rest
        assert not any("cos_f32" in step.kernel.source for step in rest)


def test_dear_values_of_several_kernels_are_computed_once():
    def running(x):
        y = jnp.cos(x)
        return lax.cumsum(y * 2, 1), y * 3

    def updated(x):
        y = jnp.cos(x)
        z = jnp.zeros((90, 40), np.float32)
        return z.at[:30].set(y * 2).at[30:60].set(y + 1)

    for function in (running, updated):
        steps = all_steps(plan(from_jax(function, X)))
        assert sum("cos_f32" in step.kernel.source for step in steps if isinstance(step, Launch)) == 1


def test_what_only_one_kernel_needs_is_not_stored():
    def parts(x):
        y = jnp.cos(x)
        return jnp.concatenate([jnp.sin(x), y * 2 + y * y])

    def small(x):
        y = jnp.cos(x)
        return jnp.concatenate([y * 2, (y + 1)[:2]])

    assert len(launches(parts, X)) == 2
    assert len(launches(small, ROW[:5])) == 2


def test_explain_says_why_a_dear_value_of_parts_is_kept():
    program = plan(from_jax(lambda x: jnp.concatenate([jnp.cos(x) * 2, jnp.cos(x) * 3]), X))
    ((value, (obstacle, user)),) = program.kept.items()
    assert value.owner.definition.name == "cosine"
    assert obstacle is Obstacle.AGAIN
    assert user.definition.name == "concatenate"
