"""JBNN for tabular data: one hidden layer under L logistic units; our reconstruction.

z = tanh(x V) W; the gradient in z of the joint cross-entropy of B rows is
(sigmoid(z) - y) / B. V (D+1, H) and W (H+1, L) lie one after the other in one vector
theta, which Adam moves. The prior on label relations is κ Σ_st ω_st ½‖w_s - w_t‖² over
the columns of W without their biases: κ tr(W Λ Wᵀ), Λ = diag(Ω1) - Ω.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ...core.arrays import dense
from ...core.coupling import label_correlation
from .base import inside_unit_interval, register
from .nets import (
    NeuralMethod,
    Tensor,
    batches,
    first_layers,
    load_torch,
    split_layer,
    two_layers,
    views,
)


class Adam:
    """Adam (Kingma and Ba, 2015) on one vector, in place."""

    def __init__(
        self, theta: Tensor, rate: float, first: float = 0.9, second: float = 0.999
    ) -> None:
        self.theta = theta
        self.rate = rate
        self.first = first
        self.second = second
        self.steps = 0
        self.mean = theta * 0
        self.square = theta * 0

    def step(self, gradient: Tensor) -> None:
        """Move theta against the gradient."""
        self.steps += 1
        self.mean.lerp_(gradient, 1 - self.first)
        self.square.mul_(self.second)
        self.square.addcmul_(gradient, gradient, value=1 - self.second)
        spread = (self.square / (1 - self.second**self.steps)).sqrt_().add_(1e-8)
        rate = self.rate / (1 - self.first**self.steps)
        self.theta.addcdiv_(self.mean, spread, value=-rate)


def backward(
    x: Tensor,
    Y: Tensor,
    share: Tensor,
    layers: Sequence[Tensor],
    into: Sequence[Tensor],
    pull: Tensor = None,
) -> None:
    """Write the gradients in both layers (V, W) into ``into``.

    The loss is that of rows x (B, D+1), which end in a one, with labels Y (B, L), times
    their ``share`` (B, 1). ``pull`` (L, L) is 2κΛ, or None without a prior.
    """
    torch = load_torch()
    V, W = layers
    r = (x @ V).tanh_()
    r1 = torch.constant_pad_nd(r, (0, 1), 1.0)
    d = (r1 @ W).sigmoid_().sub_(Y).mul_(share)
    e = d @ W[:-1].T
    torch.mm(x.T, e.addcmul_(e, r * r, value=-1), out=into[0])
    torch.mm(r1.T, d, out=into[1])
    if pull is not None:
        into[1][:-1].addmm_(W[:-1], pull)


def fitted_layers(layers: Sequence[Tensor]) -> dict[str, object]:
    """The fitted attributes of a net, by name."""
    coefs, intercepts = zip(*map(split_layer, layers), strict=True)
    return {"coefs_": coefs, "intercepts_": intercepts}


@register("jbnn")
@dataclass(eq=False, repr=False)
class JBNN(NeuralMethod):
    """JBNN, joint binary neural network (He and Xia, 2018), for tabular data.

    This is our reconstruction. All labels share one hidden representation and one loss,
    the sum of their binary cross-entropies. The original reads text with an attentive
    recurrent layer and may add a term for known relations between emotions; here the
    shared layer is tanh units over the features (0.2 per feature, as in the paper), by
    default without that term.

    Parameters
    ----------
    epochs, hidden, device, progress, random_state
        As in `BPMLL`.
    learning_rate : float, default 0.003
        Of Adam.
    batch_size : int, default 32
    weight_decay : float, default 1e-4
        Times the squared norm of all parameters, added to the mean loss of a row.
    prior_weight : float, default 0
        κ of the prior κ Σ_st ω_st ½‖w_s - w_t‖² over the output weights w of pairs of
        labels: ω is 1 where two labels are positively correlated in the training rows,
        which pulls their weights together, and -1 elsewhere.

    Attributes
    ----------
    coefs_, intercepts_ : tuples of arrays
        Weights and biases of the two layers.
    n_iter_ : int

    Notes
    -----
    Ours: the tabular shared layer, Adam, batch size, decay, first weights. Scores are
    logits (the same ranking as probabilities with fewer ties), 0 is the cut. A weight
    multiplies a row's loss. Features should be on one scale.

    References
    ----------
    H. He and R. Xia, "Joint binary neural network for multi-label learning with
    applications to emotion classification", NLPCC 2018, arXiv:1802.00891.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=100, random_state=0)
    >>> model = JBNN(epochs=5, hidden=8).fit(data.X, data.Y)
    >>> model.predict(data.X).shape == data.Y.shape
    True
    """

    PAPER_GRID: ClassVar = {"epochs": tuple(range(10, 101, 10))}
    _cut: ClassVar[float] = 0.0

    epochs: int = 100
    _: KW_ONLY
    hidden: float = 0.2
    learning_rate: float = 0.003
    batch_size: int = 32
    weight_decay: float = 1e-4
    prior_weight: float = 0.0

    def _epochs(self, X, Y, w, rng, device):
        torch = load_torch()
        tensor = partial(torch.as_tensor, device=device)
        w = w / w.mean()
        first = first_layers(rng, X.shape[1], self.hidden, Y.shape[1])
        shapes = [layer.shape for layer in first]
        theta = tensor(np.concatenate([layer.ravel() for layer in first]))
        layers = views(theta, shapes)
        gradient = theta * 0
        gradients = views(gradient, shapes)
        adam = Adam(theta, self.learning_rate)
        pull = tensor(self._prior(Y, w)) if self.prior_weight else None
        while True:
            with torch.inference_mode():
                for rows in batches(rng.permutation(len(Y)), self.batch_size):
                    x = np.hstack([dense(X[rows]), np.ones((len(rows), 1))])
                    share = w[rows][:, None] / len(rows)
                    backward(
                        tensor(x),
                        tensor(Y[rows]),
                        tensor(share),
                        layers,
                        into=gradients,
                        pull=pull,
                    )
                    adam.step(gradient.add_(theta, alpha=2 * self.weight_decay))
            yield partial(fitted_layers, layers)

    def _prior(self, Y, w):
        """2κΛ (L, L) of the labels Y (N, L) under weights w (N,)."""
        relation = np.where(label_correlation(Y, w) > 0, 1.0, -1.0)
        return 2 * self.prior_weight * (np.diag(relation.sum(axis=1)) - relation)

    def predict_proba(self, X):
        """Probabilities of the logistic units, strictly in (0, 1).

        Those of more than two classes are scaled to sum to 1.
        """
        p = inside_unit_interval(expit(self.decision_function(X)))
        return self._class_probabilities(p)

    def _scores(self, X):
        return two_layers(X, self.coefs_, self.intercepts_)
