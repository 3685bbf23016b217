"""Fits that never hold all rows: arrays larger than the memory in blocks, and streams by `partial_fit`.

Both find the IF-parts on some rows (evenly spread ones of an array, the first call's of a stream), add up
`mltsk.core.additive.LabelMoments` block by block, keep an evenly spread sample for leave-one-out, and solve from these.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..core.additive import ANTECEDENT_ROWS, LabelMoments, fit_from_moments
from ..core.arrays import row_blocks, spread_rows
from ..core.clustering import fcm_step, mean_nearest_distance
from ..core.fuzzymap import FuzzyMap
from ..core.membership import common_width, firing_strengths, rule_distinctness
from ..core.scaling import Scaling, column_quantiles
from ..exceptions import InputError
from ..paper.antecedents import Antecedents
from ..paper.solvers.moments import GRAM_BYTES
from ..paper.solvers.ridge import LOO_ROWS, LooRows
from ..targets import Targets
from .antecedents import fit_rules, fit_scale, prototypes, scaled, scaling_state, warn_if_collapsed
from .consequents import given_weights

# What `partial_fit` leaves to be solved when it is first asked for.
SOLVED = ("coef_", "coupling_", "ridge_", "correlation_weight_", "l1_weight_", "n_iter_", "certificate_")


def _can_add_up(estimator):
    """Whether the parameters ask for what sums of moments can give: the default problem, rules of full length."""
    paper = estimator.solver == "algorithm1" or "paper" in (estimator.antecedents, estimator.coupling)
    return not paper and estimator.max_conditions is None and estimator.max_terms is None


class Streams:
    """`partial_fit`, and fits and predictions in blocks, for a classifier."""

    @available_if(_can_add_up)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from further rows of a stream.

        The first call finds scale and rules on its rows (give it a few hundred at least); later ones add to the sums
        that consequents are solved from, which happens when they are next needed. With ``forgetting=0`` the result is
        that of a fit of these rules on all rows seen: exactly while weights are given or up to 1,000 rows were seen;
        beyond, leave-one-out looks at other evenly spread rows than a fit would.

        Parameters
        ----------
        X, y : as in `fit`
        classes : array, optional
            All classes, at the first call, where y is one-dimensional and its first rows do not show all of them.
        sample_weight : array of shape (n_samples,), optional
        """
        first = "stream_" not in self.__dict__
        if first:
            self._validate_params()
        checks = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_min_samples": 2 if first else 1}
        X = validate_data(self, X, reset=first, **checks)
        if first:
            self._read_classes(y, classes, X.dtype)
        Y, w = self._read_labels(y, X), _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        keep = np.flatnonzero(w > 0)
        if len(keep) < len(w):
            X, Y, w = X[keep], Y[keep], w[keep]
        if first:
            self._begin(X, w, len(X))
        elif self.forgetting > 0 and len(X):
            self._forget(X, w)
        if len(X):
            self._add(X, Y, w)
        return self

    def __getattr__(self, name):
        if name in SOLVED and "stream_" in self.__dict__:
            self._solve()
            return self.__dict__[name]
        if name == "partial_fit":  # it is there, but not for these parameters
            raise AttributeError(
                "partial_fit solves the default problem for rules of full length: what the authors run needs all "
                "rows at once, and rules are shortened afterwards, by simplify."
            )
        if isinstance(getattr(type(self), name, None), property):
            check_is_fitted(self)  # the property needs a fit, and says so itself only where nothing catches it
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self):
        if "stream_" in self.__dict__ and "coef_" not in self.__dict__:
            self._solve()  # a file is to hold a model that can predict
        return super().__getstate__()

    def _read_classes(self, y, classes, dtype):
        if classes is not None and np.ndim(y) == 1 and not hasattr(y, "columns"):
            y = np.asarray(classes)
        targets = Targets.of(y, dtype=dtype)
        if not targets.multilabel and len(targets.classes) < 2:
            raise InputError(f"y holds only the class {targets.classes[0]!r}: name all of them by classes=.")
        self._set_targets(targets)

    def _read_labels(self, y, X):
        """An indicator of y in the columns of the first call."""
        if self.multilabel_:
            Y = Targets.of(y, dtype=X.dtype).Y
        else:
            columns = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
            unknown = np.setdiff1d(y, self.classes_)
            if len(unknown):
                raise InputError(f"y holds {unknown[0]!r}, which is none of the classes {self.classes_.tolist()}.")
            Y = (np.asarray(y)[:, None] == columns).astype(X.dtype)
        if Y.shape != (X.shape[0], len(self.label_names_)):
            raise InputError(
                f"y has the shape {Y.shape}, but X has {X.shape[0]} rows and there are {len(self.label_names_)} labels."
            )
        return Y

    def _begin(self, X, w, n_rows):
        """Scale and rules from some rows that stand for ``n_rows``, and empty sums."""
        rows = spread_rows(X.shape[0], ANTECEDENT_ROWS)
        X, w = X[rows], w[rows]
        self.scale_, scaling, Z = fit_scale(X, w, self.scale)
        with self._threads(Z):
            rules = fit_rules(self, Z, w)
        self._keep_rules(rules, scaling)
        self.quantiles_ = None if sparse.issparse(X) else column_quantiles(X, np.linspace(0, 1, 21))
        M = firing_strengths(Z, rules.centers, rules.widths)
        self.rule_distinctness_ = rule_distinctness(M, w)
        self.prototypes_ = prototypes(X, M * w[:, None], self.centers_, scaling)
        warn_if_collapsed(self)
        self.simplification_ = None
        self.stream_ = {"seen": 0, "stride": 1, "fired": np.zeros(len(rules.centers))}

    def _keep_rules(self, rules: Antecedents, scaling):
        self.centers_, self.widths_, self.width_scale_ = rules.centers, rules.widths, rules.width_scale
        self.scaling_ = scaling_state(scaling)

    def _scale_rows(self, X):
        return scaled(X, self.scale_, None if self.scaling_ is None else Scaling(**self.scaling_))

    def _add(self, X, Y, w, sample=True):
        """Rows to the sums, block by block; what was solved before is forgotten."""
        for name in SOLVED:
            self.__dict__.pop(name, None)
        for rows in self._blocks_of(X):
            Z = self._scale_rows(X[rows])
            with self._threads(Z):
                G = FuzzyMap.of(Z, self.centers_, self.widths_)
                self._sum(LabelMoments.of(G, Y[rows], w[rows]))
            self.stream_["fired"] = self.stream_["fired"] + w[rows] @ G.M
            if sample:
                self._sample(Z, Y[rows], w[rows])
        self.rule_weights_ = self.stream_["fired"] / max(float(self.stream_["fired"].sum()), np.finfo(np.float64).tiny)

    def _sum(self, moments: LabelMoments):
        old = self._sums()
        total = moments if old is None else old + moments
        self.stream_ |= {name: getattr(total, name) for name in ("A", "B", "H", "weight")}

    def _sums(self) -> LabelMoments | None:
        return (
            LabelMoments(*(self.stream_[name] for name in ("A", "B", "H", "weight"))) if "A" in self.stream_ else None
        )

    def _sample(self, Z, Y, w):
        """Every stride-th row of the stream; the stride doubles when twice LOO_ROWS are there."""
        stream = self.stream_
        rows = np.arange(-stream["seen"] % stream["stride"], len(w), stream["stride"])
        stream["seen"] += len(w)
        new = {"Z": Z[rows], "Y": Y[rows], "w": w[rows]}
        old = {"Z": _unpacked(stream["Z"]), "Y": stream["Y"], "w": stream["w"]} if "Z" in stream else None
        kept = new if old is None else {name: _stacked(old[name], new[name]) for name in new}
        while len(kept["w"]) > 2 * LOO_ROWS:
            kept, stream["stride"] = {name: part[::2] for name, part in kept.items()}, 2 * stream["stride"]
        stream |= {**kept, "Z": _packed(kept["Z"])}
        self.stream_ = stream

    def _forget(self, X, w):
        """Fade the sums, and move centres and widths towards the new rows."""
        share, Z = 1 - self.forgetting, self._scale_rows(X)
        sums, mass = self._sums().faded(share), share * self.stream_["fired"]
        nearest = np.eye(len(mass), dtype=Z.dtype)[
            np.argmax(firing_strengths(Z, self.centers_, np.full_like(self.widths_, self.widths_[0, 0])), axis=1)
        ]
        moved, _, _ = fcm_step(Z, nearest, w, fuzzifier=1.0, previous=self.centers_)
        gained = w @ nearest
        centres = (mass[:, None] * self.centers_ + gained[:, None] * moved) / np.maximum(mass + gained, 1e-300)[:, None]
        self.centers_ = centres.astype(Z.dtype)
        yardstick = mean_nearest_distance(Z, self.centers_, w)
        width = common_width(Z.shape[1], yardstick, self.width_scale_)
        self.widths_ = (share * self.widths_ + self.forgetting * width).astype(Z.dtype)
        self.stream_ |= {"fired": mass, "A": sums.A, "B": sums.B, "H": sums.H, "weight": sums.weight}
        self.stream_["w"] = share * self.stream_["w"]
        if self.scaling_ is not None:
            self.prototypes_ = Scaling(**self.scaling_).invert(self.centers_.astype(np.float64))

    def _solve(self):
        sums, stream, given = self._sums(), self.stream_, given_weights(self)
        dtype = sums.A.dtype
        loo = None
        if None in given:
            G = FuzzyMap.of(_unpacked(stream["Z"]), self.centers_, self.widths_)
            Y = (stream["Y"] - sums.rates).astype(dtype, copy=False)
            loo = LooRows.of(G, Y, stream["w"], total=sums.weight)
        options = {"coupling": self.coupling, "gamma": self.init_ridge, "max_iter": self.max_iter, "tol": self.tol}
        names = dict(zip(("rho", "alpha", "beta"), given, strict=True))
        found = fit_from_moments(sums, loo, len(self.centers_), **names, **options)
        self.coef_ = np.ascontiguousarray(found.P.reshape(len(self.centers_), -1, found.P.shape[1]), dtype=dtype)
        self.ridge_, self.correlation_weight_, self.l1_weight_ = found.rho, found.alpha, found.beta
        self.coupling_, self.n_iter_ = found.coupling, found.solution.n_iter
        self.certificate_ = found.solution.certificate
        if not found.solution.converged:
            warnings.warn(
                f"the solver stopped after {self.max_iter} steps at a relative gap of {self.certificate_:.2g}, above "
                f"tol={self.tol:g}: raise max_iter, or the ridge weight ({self.ridge_:.3g})",
                ConvergenceWarning,
                stacklevel=2,
            )

    # arrays larger than the memory --------------------------------------------------------------------------------

    def _limit(self):
        return 2**20 * (get_config()["working_memory"] if self.working_memory is None else self.working_memory)

    _can_add_up = _can_add_up

    def _needs_blocks(self, X):
        """Whether X is an array or CSR whose scaled copy would not fit in the working memory."""
        if not (isinstance(X, np.ndarray) or (sparse.issparse(X) and X.format == "csr")) or getattr(X, "ndim", 0) != 2:
            return False
        plain = X.dtype.kind in "fiub" and self.device in (None, "cpu")
        return plain and X.shape[0] > 1 and X.shape[0] * self._row_bytes(X) > self._limit()

    def _row_bytes(self, X):
        return 8 * (X.shape[1] if isinstance(X, np.ndarray) else 2 * max(1, X.nnz // max(1, X.shape[0])))

    def _blocks_of(self, X):
        """Slices of rows that leave room for their copies: the scaled rows, their firing, and G in its own blocks."""
        return row_blocks(X.shape[0], 4 * self._row_bytes(X) + 32 * len(self.centers_), int(self._limit()))

    def _fit_in_blocks(self, X, y, sample_weight):
        width = self.n_rules * (X.shape[1] + 1)
        if 8 * width**2 > GRAM_BYTES:
            raise InputError(
                f"{self.n_rules} rules of {X.shape[1]} features need a matrix of {8 * width**2 / 1e9:.1f} GB, too "
                f"much to add up over blocks: take fewer rules or features, or raise working_memory to hold X."
            )
        validate_data(self, X, skip_check_array=True)
        y = y if hasattr(y, "shape") else np.asarray(y)
        if y.shape[0] != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} rows but y has {y.shape[0]}.")
        self._read_classes_in_blocks(y)
        counts = _Counts.of(sample_weight, X)
        part = counts.spread(ANTECEDENT_ROWS)
        rows = self._validate_rows(X[part])
        self._begin(rows, counts.weights(part, rows), counts.n_counted)
        for block in self._blocks_of(X):
            Xb = self._validate_rows(X[block])
            self._add(Xb, self._read_labels(_safe_indexing(y, block), Xb), counts.weights(block, Xb), sample=False)
        kept = counts.spread(LOO_ROWS)
        Xk = self._validate_rows(X[kept])
        Yk = self._read_labels(_safe_indexing(y, kept), Xk)
        self.stream_ |= {"Z": self._scale_rows(Xk), "Y": Yk, "w": counts.weights(kept, Xk)}
        self._solve()
        del self.stream_
        return self

    def _read_classes_in_blocks(self, y):
        """`_read_classes` where no float copy of y would fit: labels block by block, classes from their union."""
        n_columns = y.shape[1] if len(y.shape) == 2 else 1
        blocks = (_safe_indexing(y, rows) for rows in row_blocks(y.shape[0], 32 * n_columns, int(self._limit())))
        if n_columns == 1 and not sparse.issparse(y):
            found = [np.unique(np.asarray(block)) for block in blocks]
            self._read_classes(np.unique(np.concatenate(found)), None, np.float64)
            return
        for block in blocks:
            self._read_classes(block, None, np.float64)


@dataclass(frozen=True)
class _Counts:
    """Weights of rows without an array of ones where none are given: ``w`` (N,) or None, ``counted`` rows likewise."""

    n_rows: int
    w: np.ndarray | None
    counted: np.ndarray | None

    @classmethod
    def of(cls, sample_weight, X) -> "_Counts":
        if sample_weight is None:
            return cls(X.shape[0], None, None)
        w = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        counted = np.flatnonzero(w > 0)
        if not len(counted):
            raise InputError("sample_weight is 0 for every row: nothing is left to fit.")
        return cls(X.shape[0], w, counted)

    @property
    def n_counted(self) -> int:
        """Rows that count."""
        return self.n_rows if self.counted is None else len(self.counted)

    def spread(self, limit):
        """At most ``limit`` rows that count, evenly spread."""
        rows = spread_rows(self.n_counted, limit)
        return rows if self.counted is None else self.counted[rows]

    def weights(self, rows, X) -> np.ndarray:
        """Of some rows, which are X."""
        return np.ones(X.shape[0], dtype=X.dtype) if self.w is None else self.w[rows].astype(X.dtype)


def _stacked(old, new):
    return sparse.csr_array(sparse.vstack([old, new])) if sparse.issparse(new) else np.concatenate([old, new])


def _packed(Z):
    """A CSR as a dict of plain arrays."""
    if not sparse.issparse(Z):
        return Z
    return {"data": Z.data, "indices": Z.indices, "indptr": Z.indptr, "shape": np.asarray(Z.shape)}


def _unpacked(Z):
    if not isinstance(Z, dict):
        return Z
    return sparse.csr_array((Z["data"], Z["indices"], Z["indptr"]), shape=tuple(Z["shape"]))
