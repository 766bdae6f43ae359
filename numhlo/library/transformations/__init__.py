"""Functions of functions, written with others: Jacobians, closures, and derivative rules that programs bring along."""
