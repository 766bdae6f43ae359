"""Differentiation: how tangents flow through each op, and how linear ops transpose. One file per op family."""
