"""Plain NumPy, left as it was: nothing here knows numhlo, and all of it is traced as it stands."""

import numpy as np


def standardize(x):
    """Return columns with mean 0 and deviation 1; constant columns become 0."""
    centred = x - x.mean(axis=0)
    deviation = centred.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return centred / deviation


def distances(x, centres):
    """Return squared distances of all rows from all centres."""
    return (x * x).sum(axis=1)[:, None] - 2.0 * (x @ centres.T) + (centres * centres).sum(axis=1)


def one_hot(labels, classes):
    """Return a row for each label with a one in its column."""
    return (labels[:, None] == np.arange(classes)).astype(np.float64)


def loss(parameters, x, target, decay):
    """Return the cross entropy of a linear classifier, and a penalty on its weights."""
    weights, bias = parameters
    scores = x @ weights + bias
    scores = scores - scores.max(axis=1, keepdims=True)
    log_likelihood = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return -np.mean(np.sum(target * log_likelihood, axis=1)) + 0.5 * decay * np.sum(weights * weights)


def confusion(truth, found, classes=10):
    """Return how often each label (row) was taken for each label (column)."""
    return (one_hot(truth, classes).T @ one_hot(found, classes)).astype(np.int64)


def orthonormalize(a):
    """Return an orthonormal basis of the columns, by Gram and Schmidt."""
    basis = []
    for column in a.T:
        rest = column
        for vector in basis:
            rest = rest - (vector @ rest) * vector
        basis.append(rest / np.sqrt(rest @ rest))
    return np.stack(basis, axis=1)
