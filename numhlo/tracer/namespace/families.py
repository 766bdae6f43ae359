"""All families of NumPy names, so that plain ``np.name(traced)`` finds each: importing this module registers them."""

from __future__ import annotations

import numhlo.tracer.namespace.indexed.selected_calls  # noqa: F401 - what is chosen by a mask gets functions by name
from numhlo.tracer.namespace import (
    calculus,
    comparing,
    cumulative,
    elementwise,
    interpolation,
    moments,
    reductions,
    rounding,
    types,
)
from numhlo.tracer.namespace.creation import diagonals, from_objects, grids, sequences
from numhlo.tracer.namespace.creation import filled as creation
from numhlo.tracer.namespace.edits import bits_and_windows, editing, padding, rearranging, writing
from numhlo.tracer.namespace.indexed import indexing, strided_views
from numhlo.tracer.namespace.linalg import (
    cross_products,
    einsum,
    factoring,
    matrix_products,
    norms,
    solving,
    standard_products,
)
from numhlo.tracer.namespace.linalg import products as linear_algebra
from numhlo.tracer.namespace.ordering import membership, searching, selection, sets, sorting
from numhlo.tracer.namespace.polynomials import coefficients as polynomials
from numhlo.tracer.namespace.polynomials import fits as polynomial_fits
from numhlo.tracer.namespace.shapes import axis_order, joining, manipulation, splitting
from numhlo.tracer.namespace.signals import fourier, frequencies, sliding_products, windows
from numhlo.tracer.namespace.statistics import covariance as statistics
from numhlo.tracer.namespace.statistics import histograms, nan_quantiles, nan_reductions, quantiles

FAMILIES = (
    axis_order,
    bits_and_windows,
    calculus,
    comparing,
    creation,
    cross_products,
    cumulative,
    diagonals,
    editing,
    einsum,
    elementwise,
    factoring,
    fourier,
    frequencies,
    from_objects,
    grids,
    histograms,
    indexing,
    interpolation,
    joining,
    linear_algebra,
    manipulation,
    matrix_products,
    membership,
    moments,
    nan_quantiles,
    nan_reductions,
    norms,
    padding,
    polynomial_fits,
    polynomials,
    quantiles,
    rearranging,
    reductions,
    rounding,
    searching,
    selection,
    sequences,
    sets,
    sliding_products,
    solving,
    sorting,
    splitting,
    standard_products,
    statistics,
    strided_views,
    types,
    windows,
    writing,
)
"""The modules that say what NumPy's functions mean while tracing."""
