"""`numhlo.scipy.sparse`: solvers that only multiply by a matrix; there are no sparse arrays."""

from numhlo.library.unsupported_names import raise_absent as _raise_absent
from numhlo.scipy.sparse import linalg

__all__ = ["linalg"]
_ADVICE = dict.fromkeys(
    [
        "bsr_array",
        "coo_array",
        "coo_matrix",
        "csc_array",
        "csc_matrix",
        "csr_array",
        "csr_matrix",
        "dia_array",
        "diags",
    ],
    "use numhlo.ops.segment_sum over the entries, or dense arrays",
)
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
