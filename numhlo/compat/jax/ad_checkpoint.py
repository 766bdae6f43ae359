"""`jax.ad_checkpoint`: checkpoints, and names for their policies."""

from numhlo.compat.jax.transformations import checkpoint
from numhlo.tracer.transformations.checkpoint_policies import checkpoint_name, checkpoint_policies

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies"]
