"""Batching: how each op works on a whole batch at once. One file per op family; `table` has the rules' contract."""
