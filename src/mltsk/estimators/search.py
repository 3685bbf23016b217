"""`MLTSKClassifierCV`: rules, widths, coupling and weights chosen on inner folds, at the price of five to nine fits.

Points with the same IF-parts share a clustering, a map and one decomposition a fold (`branches`); neighbours along the
L1 weight start from each other, most of them a step away. Scores are those that `GridSearchCV` finds with the same
points and folds, to the certificate of the solver.
"""

import time
from numbers import Integral

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, ParameterGrid, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, indexable

from ..exceptions import InputError
from ..metrics.scorers import SCORERS, get_scorer
from .branches import CONSEQUENT, read_fold, score_branches
from .classifier import MLTSKClassifier
from .grid import default_points
from .ranking import results_table, still_hopeful
from .reading import RuleReading


class MLTSKClassifierCV(RuleReading, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """`MLTSKClassifier` with its parameters chosen by cross-validation.

    Parameters
    ----------
    param_grid : dict, list of dicts or None, default=None
        Parameters of `MLTSKClassifier` and the values to try, as in `GridSearchCV`. None means 200 points around what
        leave-one-out suggests: numbers of rules, widths, couplings with their weights, and L1 weights
        (`mltsk.estimators.grid`), for the price of five to nine default fits.
    estimator : MLTSKClassifier, default=None
        What the points do not name is taken from here; None is ``MLTSKClassifier()``. It is cloned, never changed.
    scoring : str, callable or None, default=None
        A name of `mltsk.metrics.scorers` (these come first: "average_precision" is the mean over samples), a name that
        scikit-learn knows, or ``f(estimator, X, y)``. None is "average_precision" for label tables and accuracy for
        one-dimensional classes.
    cv : int, splitter or iterable of splits, default=3
        A number means shuffled folds drawn by `random_state` (stratified for one-dimensional classes). Shuffled and not
        label-stratified: dealing rows by labels is a loop over rows that outlasts the search on large tables, and the
        mean over samples hardly sees it; pass `IterativeStratification` for metrics that average over rare labels.
    refit : bool, default=True
        Fit the best point on all rows. Without it there is nothing to predict with.
    n_jobs : int, optional
        Branches searched at a time. The answer does not depend on it.
    prune : bool, default=False
        Leave out further folds of branches (one number of rules, one width …) whose best point is clearly behind on
        all the folds so far: their later scores are NaN, and they cannot win.
    verbose : int, default=0
        1 prints a line per fold and number of rules.
    callback : callable, default=None
        Called with (branches done, branches in all).
    random_state : int, RandomState or None, default=0
        For the folds of an integer `cv`.

    Attributes
    ----------
    best_params_, best_score_, best_index_
        The point of the best mean score; the first one of equals.
    best_estimator_ : MLTSKClassifier
        Fitted on all rows, if ``refit``.
    cv_results_ : dict of arrays
        As in `GridSearchCV`: "params", "split0_test_score", …, "mean_test_score", "std_test_score", "rank_test_score",
        and "fit_seconds", the time of each point with its share of what is common.
    scorer_ : callable
    n_splits_ : int
    refit_time_ : float
    classes_, label_names_, n_features_in_, feature_names_in_

    Notes
    -----
    Inner folds are solved to the estimator's ``tol``, in single precision where that suffices for it.

    Examples
    --------
    >>> from mltsk import MLTSKClassifierCV
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> search = MLTSKClassifierCV({"n_rules": [1, 3], "l1_weight": [0.1, 1.0]}).fit(data.X, data.Y)
    >>> sorted(search.best_params_), search.predict(data.X).shape
    (['l1_weight', 'n_rules'], (120, 5))
    """

    def __init__(
        self,
        param_grid=None,
        *,
        estimator=None,
        scoring=None,
        cv=3,
        refit=True,
        n_jobs=None,
        prune=False,
        verbose=0,
        callback=None,
        random_state=0,
    ):
        self.param_grid = param_grid
        self.estimator = estimator
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.prune = prune
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, *, groups=None):
        """Choose the parameters and fit with them on all rows.

        Parameters
        ----------
        X, y : as in `MLTSKClassifier.fit`
        sample_weight : array of shape (n_samples,), optional
            For the fits, and for the scorer if it takes weights.
        groups : array of shape (n_samples,), optional
            For splitters that use them.
        """
        X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
        base = self._base()
        probe = clone(base)
        probe._validate_params()
        Xv, targets, w = probe._validate_fit(X, y, sample_weight)
        points = self._points(probe, Xv, targets, w)
        self.scorer_ = self._scorer(probe, targets)
        for_fit, for_score = self._route(sample_weight)
        splits = list(self._splitter(y, targets).split(X, y, groups))
        self.n_splits_ = len(splits)
        kinds = list(dict.fromkeys(point.get("coupling", base.coupling) for point in points))
        jobs = [(*self._fold_job(base, X, y, for_fit, for_score, *split), kinds) for split in splits]
        scores, seconds = self._search(jobs, _branches(base, points), len(points))
        self.cv_results_ = results_table(points, scores, seconds)
        self._choose()
        self._copy_from(probe)
        return self._refit(base, X, y, for_fit) if self.refit else self

    def _base(self):
        base = MLTSKClassifier() if self.estimator is None else self.estimator
        if not isinstance(base, MLTSKClassifier):
            raise InputError(
                f"estimator must be an MLTSKClassifier, got {type(base).__name__}; GridSearchCV tunes any other."
            )
        return clone(base)

    def _points(self, probe, X, targets, w):
        if self.param_grid is None:
            return default_points(probe, X, targets, w)
        points = list(ParameterGrid(self.param_grid))
        known = probe.get_params()
        unknown = sorted({name for point in points for name in point if name not in known})
        if unknown:
            raise InputError(f"param_grid names {', '.join(unknown)}, which MLTSKClassifier does not have.")
        return points

    def _scorer(self, probe, targets):
        scoring = self.scoring
        if scoring is None:
            scoring = "average_precision" if targets.multilabel else "accuracy"
        return get_scorer(scoring) if isinstance(scoring, str) and scoring in SCORERS else check_scoring(probe, scoring)

    def _route(self, sample_weight):
        """Weights for fits, and what goes to the scorer."""
        if sample_weight is None:
            return None, {}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight)
            return routed.estimator.fit.get("sample_weight"), dict(routed.scorer.score)
        accepts = getattr(self.scorer_, "_accept_sample_weight", lambda: False)()
        return sample_weight, {"sample_weight": sample_weight} if accepts else {}

    def _splitter(self, y, targets):
        if isinstance(self.cv, Integral):
            folds = KFold if targets.multilabel else StratifiedKFold
            return folds(int(self.cv), shuffle=True, random_state=self.random_state)
        return check_cv(self.cv, y, classifier=True)

    def _fold_job(self, base, X, y, weights, for_score, train, test):
        rows = [None if v is None else _safe_indexing(v, train) for v in (X, y, weights)]
        scoring = {name: _safe_indexing(np.asarray(values), test) for name, values in for_score.items()}
        return base, rows, (_safe_indexing(X, test), _safe_indexing(y, test)), scoring

    def _search(self, jobs, branches, n_points):
        """Scores and seconds (points, folds): fold after fold if branches may be dropped, else all at once."""
        scores, seconds = np.full((n_points, len(jobs)), np.nan), np.zeros((n_points, len(jobs)))
        with Parallel(n_jobs=self.n_jobs, return_as="generator") as parallel:  # results as they come: progress is live
            folds = list(parallel(delayed(read_fold)(*job) for job in jobs))
            rounds = [[f] for f in range(len(jobs))] if self.prune else [list(range(len(jobs)))]
            done, total = 0, len(jobs) * len(branches)
            for these in rounds:
                hopeful = [b for b in branches if not self.prune or still_hopeful(scores, _members(b), these[0])]
                tasks = [(f, b) for f in these for b in hopeful]
                results = parallel(delayed(score_branches)(folds[f], b, self.scorer_) for f, b in tasks)
                for (f, b), found in zip(tasks, results, strict=True):
                    done = self._tell(done + 1, total, f, b)
                    for i, score, took in found:
                        scores[i, f], seconds[i, f] = score, took
        return scores, seconds

    def _tell(self, done, total, fold, branches):
        if self.verbose:
            shared = ", ".join(f"{name}={value!r}" for name, value in branches[0][0].items() if name != "width_scale")
            print(f"[{done}/{total}] fold {fold + 1}: {len(_members(branches))} points {shared}")
        if self.callback is not None:
            self.callback(done, total)
        return done

    def _choose(self):
        means = self.cv_results_["mean_test_score"]
        if not np.isfinite(means).any():
            raise InputError("No point of the grid could be fitted and scored on every fold.")
        self.best_index_ = int(np.nanargmax(means))
        self.best_params_ = dict(self.cv_results_["params"][self.best_index_])
        self.best_score_ = float(means[self.best_index_])

    def _refit(self, base, X, y, weights):
        start = time.perf_counter()
        self.best_estimator_ = base.set_params(**self.best_params_).fit(X, y, sample_weight=weights)
        self.refit_time_ = time.perf_counter() - start
        return self

    def _copy_from(self, probe):
        self.__dict__.pop("best_estimator_", None)
        self.__dict__.pop("feature_names_in_", None)
        for name in ("classes_", "label_names_", "n_features_in_", "feature_names_in_"):
            if hasattr(probe, name):
                setattr(self, name, getattr(probe, name))

    def _best(self):
        check_is_fitted(self)
        if not self.refit:
            raise InputError(
                "This search was made with refit=False: fit MLTSKClassifier(**search.best_params_) yourself."
            )
        return self.best_estimator_

    @property
    def system_(self):
        """The fitted fuzzy system of the best estimator."""
        return self._best().system_

    @property
    def scaling_(self):
        """The scale of the best estimator's rules."""
        return self._best().scaling_

    def predict(self, X):
        """Labels by the best estimator."""
        return self._best().predict(X)

    def decision_function(self, X):
        """Scores minus thresholds by the best estimator."""
        return self._best().decision_function(X)

    def predict_proba(self, X):
        """Uncalibrated probabilities by the best estimator."""
        return self._best().predict_proba(X)

    def score(self, X, y, sample_weight=None):
        """Score of the best estimator by `scoring`."""
        best = self._best()
        return self.scorer_(best, X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))

    def get_metadata_routing(self):
        """What `fit` hands on: weights to the classifier's `fit` and to the scorer."""
        base = MLTSKClassifier() if self.estimator is None else self.estimator
        scorer = self.scorer_ if hasattr(self, "scorer_") else get_scorer("average_precision")
        router = MetadataRouter(owner=type(self).__name__)
        router.add(estimator=base, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = self._base().scale in ("auto", "unit", None)
        return tags


def _branches(base, points) -> list[list[tuple[dict, list]]]:
    """Points by what they share: a clustering (outer list), then a width (pairs of shared and own parameters)."""
    groups: dict[str, dict[str, tuple[dict, list]]] = {}
    for i, point in enumerate(points):
        shared = {name: value for name, value in point.items() if name not in CONSEQUENT}
        own = {name: value for name, value in point.items() if name in CONSEQUENT}
        clustering = repr(sorted((k, repr(v)) for k, v in shared.items() if k != "width_scale"))
        branch = groups.setdefault(clustering, {}).setdefault(repr(shared.get("width_scale")), (shared, []))
        branch[1].append((i, own))
    return [list(widths.values()) for widths in groups.values()]


def _members(branches) -> list[int]:
    return [i for _, points in branches for i, _ in points]
