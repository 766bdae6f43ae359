"""`jax.ad_checkpoint`: checkpoints, names for their policies, and what is kept."""

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.saved_residuals import print_saved_residuals
from numhlo.compat.jax.transformations import checkpoint
from numhlo.library.transformations.checkpoint_policies import checkpoint_name, checkpoint_policies

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "print_saved_residuals"]

__getattr__ = _refusing(__name__)
