"""Rules as data, then as words; and why a sample was given a label.

Everything here reads a `mltsk.core.system.FuzzySystem`: plain arrays in, values out, sentences last.
"""

from .local import Explanation, explain
from .rules import RuleBase, rule_base
from .values import Condition, Consequent, Rule, Term
from .why import FeaturePart, RulePart, Why

__all__ = [
    "Condition",
    "Consequent",
    "Explanation",
    "FeaturePart",
    "Rule",
    "RuleBase",
    "RulePart",
    "Term",
    "Why",
    "explain",
    "rule_base",
]
