"""A classifier as its file holds it, to be read without scikit-learn.

scikit-learn takes .6 to 1 s of processor time to be imported, longer than everything
that rules and plain data need (``python -m benchmarks start``). They are about a
`FuzzySystem`, which needs no framework, and neither does the file.
"""

from pathlib import Path

from ..fitted import FittedAttributes
from .archive import categories_beside, checked_schema, opened
from .checks import check_parts_of_system, check_scores, check_values
from .nodes import is_classifier, read_attributes
from .plain_values import plain_model
from .system_state import Attributes, Json, restored_system


class StoredModel(FittedAttributes):
    """What a file says of an MLTSKClassifier or IncrementalMLTSK: rules, no methods.

    Parameters
    ----------
    kind : name of its class
    attributes : all of its plain attributes, which were checked
    """

    def __init__(self, kind: str, attributes: Attributes) -> None:
        self.kind = kind
        self.attributes = attributes
        self.system_ = restored_system(attributes)
        self.classes_ = attributes["classes_"]
        self.label_names_ = attributes["label_names_"]
        self.multilabel_ = attributes["multilabel_"]
        self.n_features_in_ = attributes["n_features_in_"]
        self.edits_ = attributes.get("edits_", ())

    def to_dict(self) -> dict[str, Json]:
        """The model as plain data, as `mltsk.to_dict` makes them of a classifier."""
        parameters = []
        for name in self.attributes:
            if not name.startswith("_") and not name.endswith("_"):
                parameters.append(name)
        return plain_model(
            self.kind,
            self.attributes,
            parameters=sorted(parameters),
            names=self.system_.feature_names,
        )


def stored_model(path: str | Path) -> StoredModel | None:
    """What a model file holds, or None if it holds a pipeline or a compared method.

    It is checked as `mltsk.load` checks it, and refused with the same sentences.
    """
    path = Path(path)
    with opened(path) as (_, archive, manifest):
        schema = checked_schema(archive, path)
        if not is_classifier(schema):
            return None
        attributes = {
            **categories_beside(manifest),
            **read_attributes(archive, schema),
        }
        check_values(attributes)
        check_parts_of_system(attributes, is_calibrated=True)
        model = StoredModel(schema["__class__"], attributes)
        system = model.system_
        n_labels = len(system.label_names)
        check_scores(system.scores, len(system.feature_names), n_labels)
        return model
