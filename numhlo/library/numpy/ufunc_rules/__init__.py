"""What elementwise functions mean in StableHLO ops, for operands of one dtype and shape."""
