"""What needs an order: sorting, searching, sets, choices by rank."""
