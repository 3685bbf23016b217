"""One way to fit: a general rule and exceptions to it, all consequents in one ridge problem in closed form."""

from .fit import Fitted, Options, fit_system

__all__ = ["Fitted", "Options", "fit_system"]
