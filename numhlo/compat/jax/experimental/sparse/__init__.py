"""`jax.experimental.sparse`: arrays of which only some elements are stored.

`BCOO` lists the places of its elements, with axes of batches before and dense ones behind; `BCSR` lists them row by
row; `COO`, `CSR` and `CSC` are plain matrices. All is traced and differentiated as what it is made of: gathers,
products and scatters, in the elements' own order.
"""

from __future__ import annotations

from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.experimental.sparse.base import CuSparseEfficiencyWarning as CuSparseEfficiencyWarning
from numhlo.compat.jax.experimental.sparse.base import JAXSparse as JAXSparse
from numhlo.compat.jax.experimental.sparse.base import SparseEfficiencyError as SparseEfficiencyError
from numhlo.compat.jax.experimental.sparse.base import SparseEfficiencyWarning as SparseEfficiencyWarning
from numhlo.compat.jax.experimental.sparse.bcoo import (
    BCOO,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_update_layout,
)
from numhlo.compat.jax.experimental.sparse.bcsr import (
    BCSR,
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
)
from numhlo.compat.jax.experimental.sparse.creating import empty, eye, random_bcoo, todense, todense_p
from numhlo.compat.jax.experimental.sparse.derivatives import grad, jacfwd, jacobian, jacrev, value_and_grad
from numhlo.compat.jax.experimental.sparse.matrices import (
    COO,
    CSC,
    CSR,
    coo_fromdense,
    coo_matmat,
    coo_matvec,
    coo_todense,
    csr_fromdense,
    csr_matmat,
    csr_matvec,
    csr_todense,
)
from numhlo.compat.jax.experimental.sparse.products import (
    bcoo_conv_general_dilated,
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
)
from numhlo.compat.jax.experimental.sparse.rearranging import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_squeeze,
    bcoo_transpose,
)
from numhlo.compat.jax.experimental.sparse.slicing import bcoo_dynamic_slice, bcoo_gather, bcoo_slice
from numhlo.compat.jax.experimental.sparse.sparsifying import sparsify

__all__ = [
    "BCOO", "BCSR", "COO", "CSC", "CSR", "CuSparseEfficiencyWarning", "JAXSparse", "SparseEfficiencyError",
    "SparseEfficiencyWarning", "bcoo_broadcast_in_dim", "bcoo_concatenate", "bcoo_conv_general_dilated",
    "bcoo_dot_general", "bcoo_dot_general_sampled", "bcoo_dynamic_slice", "bcoo_extract", "bcoo_fromdense",
    "bcoo_gather", "bcoo_multiply_dense", "bcoo_multiply_sparse", "bcoo_reduce_sum", "bcoo_reshape", "bcoo_rev",
    "bcoo_slice", "bcoo_sort_indices", "bcoo_squeeze", "bcoo_sum_duplicates", "bcoo_todense", "bcoo_transpose",
    "bcoo_update_layout", "bcsr_broadcast_in_dim", "bcsr_concatenate", "bcsr_dot_general", "bcsr_extract",
    "bcsr_fromdense", "bcsr_sum_duplicates", "bcsr_todense", "coo_fromdense", "coo_matmat", "coo_matvec", "coo_todense",
    "csr_fromdense", "csr_matmat", "csr_matvec", "csr_todense", "empty", "eye", "grad", "jacfwd", "jacobian", "jacrev",
    "random_bcoo", "sparsify", "todense", "todense_p", "value_and_grad",
]  # fmt: skip

_PRIMITIVES = "sparse operations are traced as gathers, products and scatters: call the function of that name"


def __getattr__(name: str) -> object:
    advice = {"SparseTracer": "sparsify reads jaxprs", "linalg": "use jax.scipy.sparse.linalg, or m.todense()"}
    if name.endswith("_p"):
        advice[name] = _PRIMITIVES
    return _raise_absent(__name__, name, advice)
