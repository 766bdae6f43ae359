"""What neural networks are made of: activations, attention, normalizations, pooling."""
