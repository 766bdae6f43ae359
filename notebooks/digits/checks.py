"""What scikit-learn makes of the same digits, and how close the jitted functions must come to it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import StandardScaler

from notebooks.digits.data import CLASSES, Digits
from notebooks.digits.learning import DECAY


class Check(NamedTuple):
    """One comparison.

    Attributes
    ----------
    what : str
    found, wanted : float
        Ours and scikit-learn's.
    tolerance : float
        How far they may be apart.
    """

    what: str
    found: float
    wanted: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Return whether the two are close enough; never where one is not a number."""
        return abs(self.found - self.wanted) <= self.tolerance


def _largest(what: str, found: Any, wanted: Any, tolerance: float) -> Check:
    """Return the check that arrays agree in all elements."""
    return Check(what, float(np.abs(np.asarray(found) - wanted).max()), 0.0, tolerance)


def check_standardize(digits: Digits, scaled: Any) -> list[Check]:
    """Compare with `StandardScaler`."""
    wanted = StandardScaler().fit_transform(digits.images)
    return [_largest("standardized images, largest difference", scaled, wanted, 1e-10)]


def check_classifier(digits: Digits, scaled: np.ndarray, parameters: Any, confused: Any) -> list[Check]:
    """Compare with `LogisticRegression`, which minimizes the same loss by another method."""
    strength = 1.0 / (DECAY * len(digits.training))
    model = LogisticRegression(C=strength, tol=1e-8, max_iter=2000)
    model.fit(scaled[digits.training], digits.labels[digits.training])
    weights, bias = parameters
    testing, truth = scaled[digits.testing], digits.labels[digits.testing]
    scores = testing @ weights + bias
    likelihood = np.exp(scores - scores.max(axis=1, keepdims=True))
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    accuracy = float((scores.argmax(axis=1) == truth).mean())
    return [
        Check("accuracy on unseen digits", accuracy, float(model.score(testing, truth)), 0.005),
        _largest("probabilities, largest difference", likelihood, model.predict_proba(testing), 1e-3),
        _largest("confusion matrix, largest difference", confused, confusion_matrix(truth, scores.argmax(axis=1)), 0.0),
    ]


def check_k_means(digits: Digits, labels: Any, inertia: Any, rounds: Any) -> list[Check]:
    """Compare with `KMeans` from the same centres, run until nothing moves."""
    model = KMeans(CLASSES, init=digits.images[:CLASSES], n_init=1, tol=0.0, algorithm="lloyd").fit(digits.images)
    differing = float((np.asarray(labels) != model.labels_).sum())
    return [
        Check("inertia, relative", float(inertia) / model.inertia_, 1.0, 1e-9),
        Check("images in another cluster", differing, 0.0, 0.0),
        Check("rounds until nothing moves", float(rounds), float(model.n_iter_), 1.0),
    ]


def check_components(digits: Digits, variances: Any, projected: np.ndarray) -> list[Check]:
    """Compare with `PCA`, up to the signs of components."""
    model = PCA(len(variances), svd_solver="full").fit(digits.images)
    wanted = model.transform(digits.images)
    signs = np.sign((wanted * projected).sum(axis=0))
    return [
        _largest("variances, relative", np.asarray(variances) / model.explained_variance_, 1.0, 1e-8),
        _largest("projections, largest difference", projected * signs, wanted, 1e-4),
    ]
