"""The paper's symbols, and what they are called here."""

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
# Symbols of what nobody sets: a fit finds it.
FOUND_OF_SYMBOL = {
    "c": "rules_.centers",
    "delta": "rules_.widths",
    "δ": "rules_.widths",
    "P": "coef_",
    "R": "coupling_",
}


def symbol_advice(names: Iterable[str]) -> str:
    """A sentence on the symbols among some names, or nothing where there are none.

    >>> symbol_advice(["K", "h"])
    "Parameters have names: the paper's K is n_rules, its h is width_scale."
    >>> symbol_advice(["c"])
    "The paper's c is found by the fit: read rules_.centers after fit(X, y)."
    >>> symbol_advice(["n_rules"])
    ''
    """
    names = list(names)
    parameters = [name for name in names if name in PARAMETER_OF_SYMBOL]
    found = [name for name in names if name in FOUND_OF_SYMBOL]
    sentences = []
    if parameters:
        meanings = [f"{name} is {PARAMETER_OF_SYMBOL[name]}" for name in parameters]
        sentences.append(
            f"Parameters have names: the paper's {', its '.join(meanings)}."
        )
    for name in found:
        sentences.append(
            f"The paper's {name} is found by the fit: read {FOUND_OF_SYMBOL[name]} "
            "after fit(X, y)."
        )
    return " ".join(sentences)


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
