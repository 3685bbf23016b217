"""Studies behind the paper's Fig. 3 to 8, one file each: a data set in, plain data (what JSON can hold) out.

``STUDIES[name].function(data, seed=0, grid="paper")`` runs one; the same arguments give the same answer. With
``grid="fast"`` fewer rows, folds and values are used, and ``note`` in the answer says which.
`mltsk.paper.report.study_figures` draws the answers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import convergence, coupling_effect, label_correlation, rules, sensitivity
from .rules import best_by_rules

__all__ = ["STUDIES", "Study", "best_by_rules"]


@dataclass(frozen=True)
class Study:
    """One study: its name, what it shows, the function, and the data sets it is for (None: every one of a run)."""

    name: str
    title: str
    paper: str
    function: Callable[..., dict[str, Any]]
    datasets: tuple[str, ...] | None = None

    def applies_to(self, dataset: str) -> bool:
        """Whether the paper, and a run by default, makes this study of the data set.

        Examples
        --------
        >>> STUDIES["convergence"].applies_to("flags"), STUDIES["rules"].applies_to("flags")
        (False, True)
        """
        return self.datasets is None or dataset in self.datasets


_ALL = (
    Study(
        "label-correlation",
        "Correlation of labels and of their consequents",
        "Fig. 3, 4",
        label_correlation.study,
        ("emotions", "scene"),
    ),
    Study("coupling-effect", "What the label coupling is worth", "Fig. 5", coupling_effect.study),
    Study("rules", "Average precision against the number of rules", "Fig. 6", rules.study),
    Study("sensitivity", "Sensitivity to alpha and beta", "Fig. 7", sensitivity.study, ("flags",)),
    Study("convergence", "Convergence past the authors' stop", "Fig. 8", convergence.study, ("scene", "yeast")),
)
STUDIES: dict[str, Study] = {study.name: study for study in _ALL}
