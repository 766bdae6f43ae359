"""Sorts: a merge sort with any comparator, and quicker ways for some types. `emit.sorting` chooses."""
