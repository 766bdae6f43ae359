"""`numhlo.extending`: ops of your own dialects, other meanings of composites, and passes, from outside the package.

What installed packages name as entry points of the group ``numhlo.ops`` is loaded when a program has a name that is not
known. `docs/extending.md` shows all of it, with `numhlo.custom_call`, which registers functions by name.
"""

import numhlo.library.registration  # noqa: F401 - what traced arrays can do, in decompositions
from numhlo.library.composite_overrides import override_composite
from numhlo.library.extension_ops import REQUIRED, DefinedOp, define_op
from numhlo.lowering.ops.extension_loading import load_extensions
from numhlo.lowering.passes.user_passes import add_pass, remove_pass

__all__ = [
    "REQUIRED",
    "DefinedOp",
    "add_pass",
    "define_op",
    "load_extensions",
    "override_composite",
    "remove_pass",
]


def __dir__() -> list[str]:
    return __all__
