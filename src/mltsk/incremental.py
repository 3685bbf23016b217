"""IncrementalMLTSK: a classifier for streams, which goes on learning from batches of samples."""

from functools import partial
from numbers import Real
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import column_or_1d

from .classifier import MLTSKClassifier
from .core.arrays import is_tensor, refuse_lazy
from .core.terms import Scaling, Terms
from .exceptions import InputError
from .fit import fit_system
from .fit.design import Design, Rules, Scale
from .fit.ridge import Moments, Penalty
from .fit.short import Sample
from .rows.arrays import Block, is_dask
from .rows.read import (
    check_weights,
    first_look,
    read_columns_of,
    read_samples,
    weight_unit,
)
from .storing import calibrate, store, warn_of_thresholds
from .targets import Targets

KEPT = 1_000  # rows that are kept for leave-one-out scores, evenly spread over the stream; twice as many at most


class IncrementalMLTSK(MLTSKClassifier):
    """`MLTSKClassifier` with `partial_fit`: it keeps sums over all samples seen, and solves for its numbers again.

    The first call finds scale, terms, rules and weights, as `fit` does, so give it a few hundred samples at least;
    later calls add to the sums. Without forgetting the result is that of a fit of these rules to all samples seen.

    Parameters
    ----------
    forgetting : float, default=0.0
        At each call everything seen before loses this share of its weight.
    **others
        Those of `MLTSKClassifier` except ``max_statements``; `shorten` returns a short copy.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=300, random_state=0)
    >>> clf = IncrementalMLTSK().partial_fit(data.X[:200], data.Y[:200]).partial_fit(data.X[200:], data.Y[200:])
    >>> clf.n_seen_
    300
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        **{
            k: v
            for k, v in MLTSKClassifier._parameter_constraints.items()
            if k not in ("max_statements", "max_conditions")
        },
        "forgetting": [Interval(Real, 0, 1, closed="left")],
    }
    max_statements = max_conditions = None

    def __init__(
        self,
        n_rules="auto",
        *,
        order="auto",
        width_scale="auto",
        ridge="auto",
        coupling=None,
        coupling_weight="auto",
        scale="auto",
        threshold=0.5,
        categorical_features="from_dtype",
        cost=(1, 1),
        random_state=None,
        forgetting=0.0,
    ) -> None:
        self.n_rules, self.order, self.width_scale, self.ridge = (
            n_rules,
            order,
            width_scale,
            ridge,
        )
        self.coupling, self.coupling_weight, self.scale = (
            coupling,
            coupling_weight,
            scale,
        )
        self.threshold, self.categorical_features, self.cost = (
            threshold,
            categorical_features,
            cost,
        )
        self.random_state, self.forgetting = random_state, forgetting

    def fit(self, X, y, sample_weight=None, rules=None) -> Self:
        """As `MLTSKClassifier.fit`; a stream that was begun is forgotten."""
        self.__dict__.pop("stream_", None)
        return super().fit(X, y, sample_weight, rules)

    def partial_fit(self, X, y, classes=None, sample_weight=None, rules=None) -> Self:
        """Learn from further samples of a stream.

        Parameters
        ----------
        X, y : as in `fit`
        classes : array, optional
            All classes, at the first call, if y is one-dimensional and its first samples do not have all of them.
        sample_weight : array of shape (n_samples,), optional
            Relative to those of the first call.
        rules : list of dict, optional
            As in `MLTSKClassifier.fit`, at the first call.
        """
        if is_tensor(X) or is_dask(X):
            raise InputError(
                f"partial_fit takes arrays, data frames and CSR; X is a {type(X).__name__}."
            )
        refuse_lazy(X, "X")
        first = "stream_" not in self.__dict__
        if first:
            self._validate_params()
            self.columns_, self.given_rules_ = None, () if rules is None else rules
            X = read_columns_of(self, first_look(self, X), None)
            targets = Targets.of(
                y if classes is None or np.ndim(y) == 2 else np.asarray(classes)
            )
            self.classes_, self.label_names_, self.multilabel_ = (
                targets.classes,
                targets.names,
                targets.multilabel,
            )
        else:
            X = read_samples(self, X)
        Y = self._indicator(y, X)
        w, copies, unit = self._weights(sample_weight, X.shape[0])
        block = Block(X, Y, w, copies)
        if first:
            fitted = fit_system(block.rows(), self._options())
            store(self, fitted, block.rows())
            design = fitted.design
            found = {
                "general": design.general,
                "exceptions": design.exceptions,
                "variance": design.scale.variance,
            }
            self.stream_ = {"seen": 0, "stride": 1, "unit": unit, **found}
        self._learn(block, fitted.design if first else self._design())
        return self

    def _learn(self, block, design):
        """Add the sums of some rows, and solve for all numbers again."""
        stream = self.stream_
        moments = block.moments(design, np.arange(len(self.label_names_)))
        if "H" in stream:
            kept = 1.0 - self.forgetting
            moments += Moments(
                *(kept * stream[name] for name in ("H", "B", "phi", "y", "total"))
            )
        stream |= vars(moments)
        self._keep(block)
        self._solve(design, moments)

    def _weights(self, sample_weight, n):
        """(weights, copies, unit): weights of all calls are divided by the unit of the first."""
        if sample_weight is None:
            return np.ones(n), np.ones(n), 1.0
        given = check_weights(sample_weight, (n,))
        unit = (
            self.stream_["unit"]
            if "stream_" in self.__dict__
            else weight_unit(given) or 1.0
        )
        w = given / unit
        return w, np.where((w > 0) & (w == np.round(w)).all(), w, 1.0), unit

    def _indicator(self, y, X):
        """y in the columns of the first call."""
        if self.multilabel_:
            Y = Targets.of(y).Y
        else:
            Y = Targets(
                np.zeros((0, 1)), self.classes_, self.label_names_, False
            ).indicator(column_or_1d(y))
        if Y.shape != (X.shape[0], len(self.label_names_)):
            needed = (
                f"X has {X.shape[0]} rows and there are {len(self.label_names_)} labels"
            )
            raise InputError(f"y has the shape {Y.shape}, but {needed}.")
        return Y

    @property
    def n_seen_(self) -> int:
        """Samples seen so far."""
        return self.stream_["seen"]

    def _design(self):
        stream, scaling = (
            self.stream_,
            None if self.scaling_ is None else Scaling(**self.scaling_),
        )
        scale = Scale(self.scale_, scaling, Terms(**self.terms_), stream["variance"])
        width = float(self.widths_.flat[0]) if self.widths_.size else 1.0
        rules = Rules(self.centers_, width, self.order_, self.system_.firing)
        return Design(scale, rules, stream["general"], stream["exceptions"])

    def _keep(self, block):
        """Every stride-th row of the stream; the stride doubles when twice KEPT are there."""
        stream = self.stream_
        rows = np.arange(
            -stream["seen"] % stream["stride"], len(block.w), stream["stride"]
        )
        stream["seen"] += len(block.w)
        new = {
            "X": block.X[rows],
            "Y": block.Y[rows],
            "w": block.w[rows],
            "copies": block.copies[rows],
        }
        if "rows" in stream:
            old = {**stream["rows"], "w": stream["rows"]["w"] * (1.0 - self.forgetting)}
            stacked = (
                partial(sparse.vstack, format="csr")
                if sparse.issparse(new["X"])
                else np.concatenate
            )
            new = {
                name: (stacked if name == "X" else np.concatenate)(
                    [old[name], new[name]]
                )
                for name in new
            }
        while len(new["w"]) > 2 * KEPT:
            new, stream["stride"] = (
                {name: part[::2] for name, part in new.items()},
                2 * stream["stride"],
            )
        stream["rows"], self.loo_rows_ = (
            new,
            np.arange(0, stream["seen"], stream["stride"]),
        )

    def _solve(self, design, moments):
        """Numbers, leave-one-out scores of the rows that are kept, and what follows from those."""
        basis = {}
        if self.coupling_ is not None:
            basis = dict(
                zip(("lam", "basis"), np.linalg.eigh(self.coupling_), strict=True)
            )
        penalty = Penalty(self.ridge_, self.coupling_weight_, **basis)
        primal = moments.solve(penalty)
        kept, mean = self.stream_["rows"], primal.mean[:, None] + 0 * primal.B
        self.intercept_, self.general_coef_, self.coef_ = design.coefficients(
            primal.B, mean, primal.rates
        )
        rows = design.rows(design.scale.apply(kept["X"]))
        self.loo_scores_ = primal.leave_one_out(
            rows, kept["Y"], kept["w"], kept["copies"]
        )
        if missed := calibrate(self, kept["Y"], kept["w"], self.loo_scores_):
            warn_of_thresholds(self, missed)
        self._sample = Sample(
            **kept, loo=self.loo_scores_, design=design, penalty=penalty
        )
