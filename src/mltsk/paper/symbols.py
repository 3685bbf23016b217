"""The paper's symbols, and the parameters of `PaperMLTSK` that they stand for."""

from collections.abc import Iterable
from functools import wraps
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

# Names under which people who know the paper look for a parameter.
PARAMETER_OF_SYMBOL = {
    "K": "n_rules",
    "h": "width_scale",
    "alpha": "correlation_weight",
    "α": "correlation_weight",
    "beta": "l1_weight",
    "β": "l1_weight",
    "gamma": "init_ridge",
    "γ": "init_ridge",
    "tau": "threshold",
    "τ": "threshold",
}


def symbol_advice(names: Iterable[str]) -> str:
    """A sentence on the symbols among some names, or nothing where there are none.

    >>> symbol_advice(["K", "h"])
    "Parameters have names: the paper's K is n_rules, its h is width_scale."
    >>> symbol_advice(["n_rules"])
    ''
    """
    known = [name for name in names if name in PARAMETER_OF_SYMBOL]
    meanings = [f"{name} is {PARAMETER_OF_SYMBOL[name]}" for name in known]
    if not meanings:
        return ""
    return f"Parameters have names: the paper's {', its '.join(meanings)}."


def answering_symbols(method: Class) -> Class:
    """Decorate a class so that a symbol of the paper is answered with its name."""
    initialise: Any = vars(method)["__init__"]

    @wraps(initialise)
    def checked(self: object, *args: object, **parameters: object) -> None:
        advice = symbol_advice(parameters)
        if advice:
            raise TypeError(advice)
        initialise(self, *args, **parameters)

    method.__init__ = checked  # type: ignore[misc]
    return method
