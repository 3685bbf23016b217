"""One way to fit: a general rule and exceptions to it, all consequents in one ridge problem in closed form."""

from .fit import SAMPLE_ROWS, Fitted, Options, fit_system

__all__ = ["SAMPLE_ROWS", "Fitted", "Options", "fit_system"]
