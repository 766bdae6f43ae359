"""The parts of the demonstration by name, and the arguments that each is timed with."""

from __future__ import annotations

from typing import Any

import numpy as np

from notebooks.digits.data import CLASSES, Digits

NAMES = ("standardize", "train", "k_means", "components", "confusion")
STEPS = 20
"""Gradient steps of one call."""


def start_of_training(features: int) -> Any:
    """Return parameters and velocities: all zero."""
    zeros = (np.zeros((features, CLASSES)), np.zeros(CLASSES))
    return zeros, tuple(z.copy() for z in zeros)


def start_of_components(features: int) -> np.ndarray:
    """Return three orthonormal columns."""
    return np.linalg.qr(np.random.default_rng(1).normal(size=(features, 3)))[0]


def arguments(digits: Digits) -> dict[str, tuple[Any, ...]]:
    """Return each part's arguments."""
    features = digits.images.shape[1]
    training = digits.images[digits.training]
    scaled = (training - training.mean(axis=0)) / np.maximum(training.std(axis=0), 1e-3)
    return {
        "standardize": (digits.images,),
        "train": (start_of_training(features), scaled, digits.labels[digits.training], STEPS),
        "k_means": (digits.images, digits.images[:CLASSES]),
        "components": (digits.images, start_of_components(features)),
        "confusion": (digits.labels, np.roll(digits.labels, 1)),
    }
