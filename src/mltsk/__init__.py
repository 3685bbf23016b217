"""Multi-label classification with fuzzy rules that people can read."""
