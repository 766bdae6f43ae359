"""Learning from handwritten digits with jitted functions: what the demonstration runs, checks, times and writes."""
