"""Arrays that are made: filled, from objects, of evenly spaced numbers, of indices."""
