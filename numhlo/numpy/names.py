"""The names of `numhlo.numpy`, by the module that defines each and lists it in ``__all__``; a test compares them.

Aliases are one object under two names. The names are written here so that they are known before anything is loaded.
"""

from __future__ import annotations

from numhlo.numpy import constants

_FAMILIES = {
    "array_creation": "array asanyarray asarray ascontiguousarray asfortranarray copy from_dlpack fromfunction",
    "axis_order": "matrix_transpose moveaxis permute_dims rollaxis swapaxes transpose",
    "bits_and_windows": "packbits sliding_window_view unpackbits",
    "calculus": "diff ediff1d gradient trapezoid unwrap",
    "comparisons": (
        "allclose angle array_equal array_equiv imag isclose iscomplex isneginf isposinf isreal real real_if_close sinc"
    ),
    "covariance": "average corrcoef cov",
    "cumulative": "cumprod cumsum cumulative_prod cumulative_sum",
    "diagonals": "diag diagflat eye identity tri tril triu vander",
    "elementwise": (
        "abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh "
        "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
        "bitwise_xor cbrt ceil conj conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 "
        "fabs float_power floor floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot invert "
        "isfinite isinf isnan lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 "
        "logical_and logical_not logical_or logical_xor maximum minimum mod modf multiply negative nextafter "
        "not_equal positive pow power rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh "
        "spacing sqrt square subtract tan tanh true_divide trunc ufunc"
    ),
    "filled_arrays": "empty empty_like full full_like ones ones_like zeros zeros_like",
    "functional": "apply_along_axis apply_over_axes vectorize",
    "histograms": "bincount digitize histogram histogram2d histogram_bin_edges histogramdd",
    "in_place": "copyto fill_diagonal place put put_along_axis putmask",
    "index_grids": (
        "diag_indices diag_indices_from indices ix_ mask_indices meshgrid ravel_multi_index tril_indices "
        "tril_indices_from triu_indices triu_indices_from unravel_index"
    ),
    "index_tricks": "c_ index_exp mgrid ogrid r_ s_",
    "indexing.brackets": "take take_along_axis",
    "insertion": "delete insert resize trim_zeros",
    "interpolation": "interp",
    "joining": "append block column_stack concat concatenate dstack hstack stack vstack",
    "linalg.cross_products": "cross",
    "linalg.einsum": "einsum einsum_path",
    "linalg.matrix_products": "matmul matvec vecdot vecmat",
    "linalg.products": "dot inner kron outer tensordot trace vdot",
    "membership": "isin",
    "moments": "mean std var",
    "nan_quantiles": "nanmedian nanpercentile nanquantile",
    "nan_reductions": "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "padding": "pad",
    "polynomial.coefficients": "poly polyadd polyder polydiv polyint polymul polysub polyval",
    "polynomial.fits": "polyfit roots",
    "quantiles": "median percentile quantile",
    "ranges": "arange geomspace linspace logspace",
    "rearranging": "flip fliplr flipud repeat roll rot90 tile",
    "reductions": "all amax amin any count_nonzero max min prod ptp sum",
    "reshaping": (
        "astype atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to diagonal expand_dims ravel reshape "
        "squeeze"
    ),
    "rounding": "around clip fix nan_to_num round",
    "searching": "argmax argmin flatnonzero nonzero searchsorted where",
    "selection": "argpartition argwhere choose compress extract partition piecewise select",
    "sets": "intersect1d setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values",
    "sliding_products": "convolve correlate",
    "sorting": "argsort lexsort sort sort_complex",
    "splitting": "array_split dsplit hsplit split unstack vsplit",
    "types": (
        "broadcast_shapes can_cast common_type finfo iinfo iscomplexobj isrealobj min_scalar_type ndim promote_types "
        "result_type shape size"
    ),
    "window_functions": "bartlett blackman hamming hanning i0 kaiser",
}
"""By the family file in `numhlo.library.numpy`."""

HOMES: dict[str, str] = {
    **{name: f"numhlo.library.numpy.{home}" for home, names in _FAMILIES.items() for name in names.split()},
    **dict.fromkeys(constants.__all__, "numhlo.numpy.constants"),
    "Array": "numhlo.tracer.core.array",
    "__array_namespace_info__": "numhlo.numpy.inspection",
}
"""The module that each name is loaded from."""
