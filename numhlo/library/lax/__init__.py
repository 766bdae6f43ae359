"""JAX's `lax`: strict operations on operands of one dtype, each close to one StableHLO op."""
