"""Where the work may run beside NumPy on one machine: one small adapter for each place."""
