"""Studies behind the paper's Fig. 3 to 8, each a function of a data set.

``STUDIES[name].function(data, seed=0, grid="paper")`` runs one; the same arguments give
the same answer, plain data that JSON can hold. With ``grid="fast"`` fewer rows, folds
and values are used, and ``note`` in the answer says which.
`mltsk.paper.report.study_figures` draws the answers.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..published import PlainData
from .convergence import convergence_study
from .coupling_effect import correlation_study, effect_study
from .sensitivity import rules_study, weights_study


class Study(NamedTuple):
    """What a study shows, its figures in the paper, the function, and its data sets.

    ``datasets`` is None for a study of every data set of a run.
    """

    title: str
    paper: str
    function: Callable[..., PlainData]
    datasets: tuple[str, ...] | None = None


STUDIES = {
    "label-correlation": Study(
        "Correlation of labels and of their consequents",
        "Fig. 3, 4",
        correlation_study,
        datasets=("emotions", "scene"),
    ),
    "coupling-effect": Study(
        "What the label coupling is worth", "Fig. 5", effect_study
    ),
    "rules": Study(
        "Average precision against the number of rules", "Fig. 6", rules_study
    ),
    "sensitivity": Study(
        "Sensitivity to alpha and beta", "Fig. 7", weights_study, datasets=("flags",)
    ),
    "convergence": Study(
        "Convergence past the authors' stop",
        "Fig. 8",
        convergence_study,
        datasets=("scene", "yeast"),
    ),
}
