"""Arrays with elements moved, repeated, added, taken out, packed."""
