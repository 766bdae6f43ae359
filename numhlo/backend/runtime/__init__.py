"""What runs programs: the step table, its two engines, the thread pool, library functions, the fast entry."""
