"""Hostile files: mutated and crafted ones of every format, read in processes that may die. Run ``python -m fuzz``."""
