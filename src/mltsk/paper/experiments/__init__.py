"""Experiments: the paper's tables as data, and cross-validation as this package reports it."""
