"""Experiments: the paper's tables as data, and runs that repeat and extend them."""
