"""`jit` and its stages: the wiring of tracer and backend, the cache, and the dispatch of calls."""
