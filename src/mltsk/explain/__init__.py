"""Rules as data, then as words; and why a sample was given a label.

Everything here reads a `mltsk.system.FuzzySystem`: plain arrays in, values out, sentences last.
"""

from .local import Explanation, Part, Why, explain
from .rules import RuleBase, rule_base
from .values import Condition, Consequent, Given, Rule, Shape

__all__ = [
    "Condition",
    "Consequent",
    "Explanation",
    "Given",
    "Part",
    "Rule",
    "RuleBase",
    "Shape",
    "Why",
    "explain",
]
__all__ += ["rule_base"]
