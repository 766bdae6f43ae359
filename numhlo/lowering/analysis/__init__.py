"""Facts about programs, each found in one place: `loops` has how loops count, and how often they run."""
