"""`jit` and its stages: the wiring of tracer and backend, the cache, and the dispatch of calls.

Begin with `jitted_function`, what a call goes through. What users look at is in `stages`, `explain` and `reports`;
programs that came from outside are in `program_function`, those built by hand in `graph_builder`.
"""
