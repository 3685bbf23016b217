"""IncrementalMLTSK: a classifier for streams, which goes on learning from batches."""

from copy import copy
from dataclasses import replace
from numbers import Real
from typing import Self

import numpy as np

from .classifier import MLTSKClassifier
from .core.arrays import (
    Array,
    FloatArray,
    Matrix,
    is_tensor,
    refuse_lazy,
    underflow_is_zero,
)
from .exceptions import InputError
from .fit.design import Design
from .fit.fit import fit_system
from .fit.options import Names
from .fit.ridge import Penalty
from .fit.rows import Block
from .record import FitRecord
from .refit import take_over, unfitted_copy
from .rows.batches import (
    StreamLabels,
    check_names_of_features,
    check_same_features,
    first_targets,
    in_form_of,
)
from .rows.read import (
    Features,
    GroupsLike,
    RulesLike,
    TableLike,
    TargetsLike,
    check_lengths,
    first_look,
    is_dask,
    numbers_of,
    refuse_sparse_gaps,
)
from .rows.weights import WeightsLike, check_weights, weight_unit
from .short import TrainingRows
from .sklearn_private import Interval
from .stream import Stream, codes_of_keys, keys_of_groups
from .thresholds import check_threshold_wish

# Beyond, what came before and the ridge are lost to rounding next to such a row.
MAX_RELATIVE_WEIGHT = 1e12


class IncrementalMLTSK(MLTSKClassifier):
    """`MLTSKClassifier` with `partial_fit`, for streams.

    It keeps sums over all samples seen, and solves for its numbers again. The first
    call finds scale, terms, pairs, rules and weights, as `fit` does, so give it a few
    hundred samples at least; with thousands it finds finer curves and pairs of features
    that act together. Later calls add to the sums. Without forgetting the result is
    that of a fit of these rules to all samples seen.

    Parameters
    ----------
    forgetting : float, default=0.0
        At each call everything seen before loses this share of its weight.
    **others
        Those of `MLTSKClassifier` except ``max_statements``, ``max_conditions`` and
        ``monotonic_cst``; `shorten` returns a short copy and `constrained` a corrected
        one.

    Attributes
    ----------
    n_seen_ : int
        Samples seen so far.
    stream_ : Stream
        What `partial_fit` goes on with.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=300, random_state=0)
    >>> clf = IncrementalMLTSK().partial_fit(data.X[:200], data.Y[:200])
    >>> clf.partial_fit(data.X[200:], data.Y[200:]).n_seen_
    300
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        **MLTSKClassifier._parameter_constraints,
        "forgetting": [Interval(Real, 0, 1, closed="left")],
    }
    del _parameter_constraints["max_statements"]
    del _parameter_constraints["max_conditions"]
    del _parameter_constraints["monotonic_cst"]
    max_statements = None
    max_conditions = 5
    monotonic_cst = None

    def __init__(
        self,
        n_rules="auto",
        *,
        order="auto",
        width_scale="auto",
        tnorm="product",
        n_pairs="auto",
        scale="auto",
        ridge="auto",
        coupling=None,
        coupling_weight="auto",
        threshold=0.5,
        categorical_features="from_dtype",
        random_state=None,
        forgetting=0.0,
    ) -> None:
        self.n_rules = n_rules
        self.order = order
        self.width_scale = width_scale
        self.tnorm = tnorm
        self.n_pairs = n_pairs
        self.scale = scale
        self.ridge = ridge
        self.coupling = coupling
        self.coupling_weight = coupling_weight
        self.threshold = threshold
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.forgetting = forgetting

    def partial_fit(
        self, X, y, classes=None, sample_weight=None, rules=None, groups=None
    ) -> Self:
        """Learn from further samples of a stream.

        Labels and features are matched by name, whatever order the columns of y have;
        those of X keep their order. A batch with names after one without is refused,
        and so is one without names after one with.

        A call that fails leaves the stream as it was. A call after `fit` begins a new
        stream.

        Parameters
        ----------
        X, y : as in `fit`
            All labels must be observed in every row: leave other rows out, or fit
            `MLTSKClassifier` to all rows at once. Batches of X may be dense or CSR in
            turn.
        classes : array, optional
            All classes or labels, at the first call, if the first samples do not have
            all of them: for one-dimensional y, and for lists of labels.
        sample_weight : array of shape (n_samples,), optional
            Relative to those of the first call.
        rules : list of dict, optional
            As in `MLTSKClassifier.fit`, at the first call.
        groups : array of shape (n_samples,), optional
            As in `fit`, at every call or at none. A group may come in several calls: it
            is known by its name, and left out as a whole.
        """
        if is_tensor(X) or is_dask(X):
            raise InputError(
                "partial_fit takes arrays, data frames and CSR; "
                f"X is a {type(X).__name__}."
            )
        refuse_lazy(X, "X")
        check_names_of_features(X)
        check_threshold_wish(self.threshold)
        if not hasattr(self, "stream_"):
            return self._begin(X, y, classes, sample_weight, rules, groups)
        check_threshold_wish(self.threshold, len(self.label_names_))
        X = self._later_samples(X)
        labels = StreamLabels(self.label_names_, self.classes_, self.multilabel_)
        labels.check_classes(classes)
        Y = labels.indicator(y)
        check_lengths(X.shape[0], len(Y))
        block = _block(X, Y, sample_weight, self.stream_.unit)
        keys = keys_of_groups(groups, X.shape[0])
        if (keys is None) != (self.stream_.group_keys is None):
            had = "no groups" if keys is not None else "groups"
            raise InputError(
                f"The first call of partial_fit had {had}, and this one differs: say "
                "at every call which rows belong together, or at none."
            )
        design = self.stream_.design(self.system_)
        longer = copy(self)
        longer._go_on(self.stream_.after(block, design, self.forgetting, keys), design)
        return take_over(self, longer)

    def _later_samples(self, X: TableLike) -> Matrix:
        """Samples of a later batch in the columns and the form of the first."""
        check_same_features(getattr(self, "feature_names_in_", None), X)
        X = in_form_of(self.stream_.kept.X, self._samples(X))
        refuse_sparse_gaps(X)
        return X

    @underflow_is_zero()
    def _begin(
        self,
        X: TableLike,
        y: TargetsLike,
        classes: TargetsLike,
        sample_weight: WeightsLike,
        rules: RulesLike,
        groups: GroupsLike,
    ) -> Self:
        """Find scale, terms, pairs and rules on the first samples, and learn."""
        self._validate_params()
        rules = () if rules is None else rules
        reader = copy(self)
        X, columns = numbers_of(reader, first_look(reader, X), rules)
        features = Features.of(reader, columns)
        targets = first_targets(y, classes)
        check_threshold_wish(self.threshold, len(targets.names))
        check_lengths(X.shape[0], len(targets.Y))
        unit = _unit_of(sample_weight, X.shape[0])
        block = _block(X, targets.Y, sample_weight, unit)
        keys = keys_of_groups(groups, X.shape[0])
        block = replace(block, groups=codes_of_keys(keys))
        names = Names(features.column_names, targets.names, columns)
        result = fit_system(block.all_rows(), self._options(), names)
        begun = unfitted_copy(self)
        begun._note_input(features, targets, rules)
        begun._note_choice(result)
        begun.system_ = result.system
        loo_scores = result.loo_scores if result.others else None
        stream = Stream.begun(result, block, unit, keys)
        begun._go_on(stream, result.design, loo_scores)
        return take_over(self, begun)

    @underflow_is_zero()
    def _go_on(
        self, stream: Stream, design: Design, loo_scores: FloatArray | None = None
    ) -> None:
        """Solve for all numbers again, with the sums of a stream.

        ``loo_scores`` are those of the samples that are kept, where they are known.
        """
        penalty = self._penalty()
        solution = stream.solved(design, penalty)
        numbers = design.coefficients(solution.B, solution.mean, solution.rates)
        long = replace(
            self.system_,
            has_log_odds=False,
            intercept=numbers.intercept,
            # row by row, as they come back from a file: another layout rounds
            # differently
            term_coef=np.ascontiguousarray(numbers.terms),
            pair_coef=np.ascontiguousarray(numbers.pairs),
            coef=np.ascontiguousarray(numbers.rules),
        )
        kept = stream.kept
        training = TrainingRows(
            X=kept.X,
            Y=kept.Y,
            w=kept.w,
            loo_scores=solution.loo_scores if loo_scores is None else loo_scores,
            design=design,
            penalty=penalty,
            groups=kept.groups,
        )
        self.stream_ = stream
        record = FitRecord.of_training(training, stream.positions, long)
        record = replace(
            record,
            kept_sums=stream.sums(design, penalty),
            folds=stream.folds,
            n_rows=stream.seen,
        )
        self._keep(record.system(), record)

    def _penalty(self) -> Penalty:
        """The ridge and coupling that the first call chose."""
        if self.coupling_ is None:
            return Penalty(self.ridge_, self.coupling_weight_)
        lam, basis = np.linalg.eigh(self.coupling_)
        return Penalty(self.ridge_, self.coupling_weight_, lam, basis)

    @property
    def n_seen_(self) -> int:
        """Samples seen so far."""
        return self.stream_.seen


def _unit_of(sample_weight: WeightsLike, n_rows: int) -> float:
    """What the weights of all calls are divided by."""
    if sample_weight is None:
        return 1.0
    return weight_unit(check_weights(sample_weight, (n_rows,)))


def _block(X: Matrix, Y: Array, sample_weight: WeightsLike, unit: float) -> Block:
    """Samples of one call, their weights divided by the unit of the stream."""
    if sample_weight is None:
        return Block(X, Y, np.ones(X.shape[0]))
    w = check_weights(sample_weight, (X.shape[0],))
    with np.errstate(over="ignore"):
        w = w / unit
    is_too_large = w > MAX_RELATIVE_WEIGHT
    if is_too_large.any():
        row = int(is_too_large.argmax())
        raise InputError(
            f"sample_weight of row {row} is {w[row]:.0e} times the mean of the first "
            f"batch: at most {MAX_RELATIVE_WEIGHT:.0e} times can be learned from."
        )
    return Block(X, Y, w)
