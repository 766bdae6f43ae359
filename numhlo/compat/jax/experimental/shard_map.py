"""`jax.experimental.shard_map`: the older place of `jax.shard_map`."""

from numhlo.compat.jax.mapping import shard_map as shard_map

__all__ = ["shard_map"]
