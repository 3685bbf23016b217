"""One way to fit: a general rule and exceptions to it, in one ridge problem."""

from .fit import FitResult, Names, Options, fit_system

__all__ = ["FitResult", "Names", "Options", "fit_system"]
