"""The handwritten digits that scikit-learn ships: 1797 images of 8 × 8 grey values, split for training and testing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits

CLASSES = 10
TRAINING = 1297


class Digits(NamedTuple):
    """Images as rows, and the digits that they show.

    Attributes
    ----------
    images : (1797, 64) float64
    labels : (1797,) int64
    training, testing : arrays of int
        Rows of either part.
    """

    images: np.ndarray
    labels: np.ndarray
    training: np.ndarray
    testing: np.ndarray


def load() -> Digits:
    """Return the digits, split by a fixed seed."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    return Digits(images, labels, order[:TRAINING], order[TRAINING:])
