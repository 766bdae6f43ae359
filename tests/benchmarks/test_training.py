"""The table of training steps: numhlo's steps are JAX's."""

import pytest

from benchmarks import training


def test_names():
    names = [model.name for model in training.TRAININGS]
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp of a small batch", "lstm"])
def test_steps_agree(name):
    (model,) = (t for t in training.TRAININGS if t.name == name)
    calls, wrong = training.made(model)
    assert set(calls) == {"numhlo", "jax"} and not wrong
