"""Functions of functions: vmap, grad and their family, checkpoints, and rules that users bring along.

Each traces a function (`staging`) and interprets its graph (`replay`); the rules of single ops are in `batching` and
`differentiation`.
"""
