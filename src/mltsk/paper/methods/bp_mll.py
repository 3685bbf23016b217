"""BP-MLL: a net that is trained to rank relevant labels above irrelevant ones.

For outputs c = tanh(tanh(x V) W), label set Y and the other labels Y' the error is the
sum over k in Y, l in Y' of exp(-(c_k - c_l)) / (|Y| |Y'|). Its descent direction in c
factors and costs O(L): with u = exp(-c) on Y and exp(c) on Y', t the sum of all u and p
that over Y, it is u (y t - p) / (|Y| |Y'|). Biases, the last rows of V and W, decay
like weights.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.arrays import Array, Matrix
from .base import register
from .nets import (
    Device,
    NeuralMethod,
    Tensor,
    batches,
    first_layers,
    load_torch,
    pair_share,
    split_layer,
    two_layers,
    with_complement,
)


class RankingBatch(NamedTuple):
    """The rows of one step, as tensors.

    ``x`` (B, m) are inputs with a column of ones, ``Y`` (B, L) labels, ``signs``
    1 - 2Y, ``share`` (B, 1) the rows' shares of a pair times their weights, ``weight``
    the sum of the weights. ``columns`` are the features that the inputs belong to: None
    for all, of sparse rows only those that occur in them.
    """

    x: Tensor
    Y: Tensor
    signs: Tensor
    share: Tensor
    weight: float
    columns: Tensor


def online_step(
    V: Tensor,
    W: Tensor,
    batch: RankingBatch,
    *,
    rate: float,
    decay: float,
    factor: float = 1.0,
) -> float:
    """Change V and W, in place, by one step on a batch.

    Gradients are summed, and all weights shrink by 1 - decay for every row. The first
    layer is factor · V: with sparse rows a step changes the factor, which is returned,
    and of V only those rows that the batch uses (rcv1s1: 50 of 944).
    """
    x, Y, signs, share, weight, columns = batch
    keep = (1 - decay) ** weight
    if columns is None:
        h = (x @ V).tanh_()
    else:
        h = (x @ V.index_select(0, columns)).mul_(factor).tanh_()
    h1 = load_torch().constant_pad_nd(h, (0, 1), 1.0)
    c = (h1 @ W).tanh_()
    u = (c * signs).exp_()
    relevant = (u * Y).sum(1, keepdim=True)
    # How the error falls in c, then in the sums that c is the tanh of.
    d = (Y * u.sum(1, keepdim=True)).sub_(relevant).mul_(u).mul_(share)
    d.addcmul_(d, c * c, value=-1)
    e = d @ W[:-1].T
    e.addcmul_(e, h * h, value=-1)
    W.addmm_(h1.T, d, beta=keep, alpha=rate)
    if columns is None:
        V.addmm_(x.T, e, beta=keep, alpha=rate)
        return factor
    V.index_add_(0, columns, x.T @ e, alpha=rate / (factor * keep))
    return factor * keep


def make_batches(
    X: Matrix,
    Y: Array,
    w: Array,
    order: NDArray[np.intp],
    *,
    size: int,
    device: Device,
) -> Iterator[RankingBatch]:
    """The steps of an epoch over X (N, D), Y (N, L), w (N,), in this order of rows.

    Rows with no label or all labels have no pair and are left out.
    """
    torch = load_torch()
    tensor = partial(torch.as_tensor, dtype=torch.float64, device=device)
    share = pair_share(Y) * w
    for rows in batches(order[share[order] > 0], size):
        x = X[rows]
        columns = None
        if sparse.issparse(X):
            used = np.unique(x.indices)
            x = x[:, used].toarray()
            with_bias = np.append(used, X.shape[1])
            columns = torch.as_tensor(with_bias, device=device).long()
        yield RankingBatch(
            x=tensor(np.hstack([x, np.ones((len(rows), 1))])),
            Y=tensor(Y[rows]),
            signs=tensor(1 - 2 * Y[rows]),
            share=tensor(share[rows][:, None]),
            weight=float(w[rows].sum()),
            columns=columns,
        )


def best_thresholds(c: Array, Y: Array) -> Array:
    """The first threshold of every row that misclassifies the fewest labels, (N,).

    c (N, L) are outputs, Y (N, L) labels. Candidates in rising order: the smallest
    output - 0.1, the midpoints between outputs, the largest + 0.1; outputs at or above
    a threshold count as relevant.
    """
    order = np.argsort(c, axis=1, kind="stable")
    s = np.take_along_axis(c, order, axis=1)
    y = np.take_along_axis(Y, order, axis=1)
    midpoints = (s[:, :-1] + s[:, 1:]) / 2
    candidates = np.hstack([s[:, :1] - 0.1, midpoints, s[:, -1:] + 0.1])
    below = np.empty(candidates.shape, dtype=np.intp)
    for j, candidate in enumerate(candidates.T):
        below[:, j] = (s < candidate[:, None]).sum(axis=1)
    # missed[:, j] counts relevant labels among the j lowest outputs.
    missed = np.hstack([np.zeros((len(y), 1)), np.cumsum(y, axis=1)])
    # The irrelevant labels of the row, a constant, would come on top.
    wrong = 2 * np.take_along_axis(missed, below, axis=1) - below
    return candidates[np.arange(len(c)), np.argmin(wrong, axis=1)]


def fitted_net(
    V: Tensor, W: Tensor, mean: Array, *, X: Matrix, Y: Array, w: Array
) -> dict[str, object]:
    """The fitted attributes of a net that was trained on X - mean, by name.

    Intercepts are for features as they were given, and the thresholds of the rows of X
    are regressed on their outputs.
    """
    first, first_bias = split_layer(V)
    second, second_bias = split_layer(W)
    coefs = (first, second)
    intercepts = (first_bias - mean @ first, second_bias)
    c = np.tanh(two_layers(X, coefs, intercepts))
    root = np.sqrt(w)
    design = np.column_stack([c, np.ones(len(c))]) * root[:, None]
    targets = best_thresholds(c, Y) * root
    # Of all least-squares solutions this is the one of minimum norm.
    threshold_coef = np.linalg.lstsq(design, targets, rcond=None)[0]
    return {
        "coefs_": coefs,
        "intercepts_": intercepts,
        "threshold_coef_": threshold_coef,
    }


@register("bp-mll")
@dataclass(eq=False, repr=False)
class BPMLL(NeuralMethod):
    """BP-MLL, backpropagation for multi-label learning (Zhang and Zhou, 2006).

    A net with one hidden layer, tanh units throughout, trained instance by instance so
    that every relevant label scores above every irrelevant one; then a linear function
    of the outputs, fitted by least squares, tells where to cut a row of scores. Scores
    are outputs minus the row's threshold: they rank labels as the outputs do.

    Parameters
    ----------
    epochs : int, default 100
        Passes through the rows; Table II of the paper tries 10 to 100.
    hidden : float or int, default 0.2
        Hidden units: a fraction of the features, or how many.
    learning_rate : float, default 0.05
    cost : float, default 0.1
        Decay: every weight and bias shrinks by 2 cost / N for each instance (it is not
        multiplied by the learning rate).
    batch_size : int, default 1
        1 is the published method: one instance at a time. Larger batches add up the
        steps that their instances would take from the same weights: faster, and
        unstable beyond a few dozen unless the learning rate is lowered.
    center : bool, default True
        Subtract the mean of each feature, unless X is sparse. Ours: features in [0, 1]
        share a large part that drives every step.
    shuffle : bool, default True
        Draw the order of instances, the same in every epoch. The authors' program takes
        rows as they come, which fails where a file is sorted by label, as scene is.
    device : {"cpu", "cuda"}, default "cpu"
    progress : callable, optional
        Called with (epochs done, epochs in all).
    random_state : int, RandomState or None, default 0
        Of the first weights and of the order.

    Attributes
    ----------
    coefs_, intercepts_ : tuples of arrays
        Weights and biases of the two layers.
    threshold_coef_ : array of shape (n_labels + 1,)
        The threshold function, constant last.
    n_iter_ : int

    Notes
    -----
    Rows with no label or all labels have no pair to learn from and count in the
    threshold function alone. A weight multiplies what a row adds to the error; 2 is
    only nearly the same as repeating it. Features should be on one scale.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou, "Multilabel neural networks with applications to
    functional genomics and text categorization", IEEE Trans. Knowledge and Data
    Engineering 18(10), 2006.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=100, random_state=0)
    >>> model = BPMLL(epochs=5, hidden=8).fit(data.X, data.Y)
    >>> model.predict(data.X).shape == data.Y.shape
    True
    """

    PAPER_GRID: ClassVar = {"epochs": tuple(range(10, 101, 10))}
    _cut: ClassVar[float] = 0.0

    epochs: int = 100
    _: KW_ONLY
    hidden: float = 0.2
    learning_rate: float = 0.05
    cost: float = 0.1
    batch_size: int = 1
    center: bool = True
    shuffle: bool = True

    def _epochs(self, X, Y, w, rng, device):
        torch = load_torch()
        Y = with_complement(Y)
        layers = first_layers(rng, X.shape[1], self.hidden, Y.shape[1])
        V, W = (torch.as_tensor(layer, device=device) for layer in layers)
        order = rng.permutation(len(Y)) if self.shuffle else np.arange(len(Y))
        mean = np.zeros(X.shape[1])
        centred = X
        if not sparse.issparse(X):  # centring would fill in sparse rows
            if self.center:
                mean = np.average(X, axis=0, weights=w)
            centred = X - mean
        steps = list(
            make_batches(centred, Y, w, order, size=self.batch_size, device=device)
        )
        decay = 2 * self.cost / w.sum()
        while True:
            factor = 1.0  # it starts anew in every epoch, before it can underflow
            with torch.inference_mode():
                for batch in steps:
                    factor = online_step(
                        V,
                        W,
                        batch,
                        rate=self.learning_rate,
                        decay=decay,
                        factor=factor,
                    )
                V.mul_(factor)
            yield partial(fitted_net, V, W, mean, X=X, Y=Y, w=w)

    def _scores(self, X):
        c = np.tanh(two_layers(X, self.coefs_, self.intercepts_))
        if self._binary:
            # The single label's complement is column 0, and no threshold is needed to
            # see which of the two wins.
            return c[:, 1:] - c[:, :1]
        thresholds = c @ self.threshold_coef_[:-1] + self.threshold_coef_[-1]
        return c - thresholds[:, None]
