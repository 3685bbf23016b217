"""The report of an experiment: its tables, figures and one page."""
