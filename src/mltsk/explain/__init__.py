"""Rules as data and as words, and why a sample was given a label.

Everything here reads a `mltsk.system.FuzzySystem`: plain arrays in, values out,
sentences last.
"""

from .conditions import Condition, Given
from .local import Explanation, Part, Why, explain
from .pairs import FeaturePair, FeaturePairs, PairRule, feature_pairs
from .rules import RuleBase, rule_base
from .shapes import Shape
from .values import Consequent, GeneralRule, Rule

__all__ = [
    "Condition",
    "Consequent",
    "Explanation",
    "FeaturePair",
    "FeaturePairs",
    "GeneralRule",
    "Given",
    "PairRule",
    "Part",
    "Rule",
    "RuleBase",
    "Shape",
    "Why",
    "explain",
    "feature_pairs",
    "rule_base",
]
