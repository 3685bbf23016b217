"""Rules as data and as words, and why a sample was given a label.

Everything here reads a `mltsk.system.FuzzySystem`: plain arrays in, values out,
sentences last.
"""

from .conditions import Condition, Given
from .linear_rule import FuzzyRule, GaussianCondition, LinearConsequent
from .local import Explanation, explain
from .pair_effects import feature_pairs
from .pairs import FeaturePair, FeaturePairs, PairRule
from .papers_rules import FuzzyRules, fuzzy_rules
from .rules import RuleBase, rule_base
from .shapes import Shape
from .values import Consequent, GeneralRule, Rule
from .why import Part, Why

__all__ = [
    "Condition",
    "Consequent",
    "Explanation",
    "FeaturePair",
    "FeaturePairs",
    "FuzzyRule",
    "FuzzyRules",
    "GaussianCondition",
    "GeneralRule",
    "Given",
    "LinearConsequent",
    "PairRule",
    "Part",
    "Rule",
    "RuleBase",
    "Shape",
    "Why",
    "explain",
    "feature_pairs",
    "fuzzy_rules",
    "rule_base",
]
