"""Hostile files of every format, mutated and crafted: run ``python -m fuzz``.

They are read in processes that may die.
"""
