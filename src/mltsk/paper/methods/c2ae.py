"""C2AE: features and labels meet in one latent space, and labels are read back from there.

Nets of features F_x, encoder F_e and decoder F_d minimise Phi + alpha Gamma (the paper) or Phi + Gamma / alpha (the
authors' program), sums over the rows of a mini-batch. A new row scores F_d(F_x(x)).

    Phi   = ||F_x - F_e||² + 1/2 (||F_x'F_x - I||² + ||F_e'F_e - I||²)
    Gamma = sum_i 1/(|Y_i| |Y_i'|) sum over k in Y_i, l in Y_i' of exp(-5 (o_ik - o_il)) / 5,   o = F_d(F_e(y))
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import count
from numbers import Real
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils._param_validation import Interval, StrOptions

from ...core.threads import blas_threads
from ...metrics import macro_f1_score, micro_f1_score
from .base import CONSTRAINTS, COUNT
from .c2ae_nets import SLOPE, Nets, Rows, wrapped_batches
from .nets import NeuralMethod, load_torch, torch_device, with_complement

EPOCHS, FALL = 50, 0.98  # of the authors' program: passes, and the learning rate's factor from one to the next
UPDATES = 400  # fewest steps that train the nets: emotions has AP .61 after 50, .81 after 400


def apply_net(X: Any, layers: Any) -> np.ndarray:
    """Outputs of a net's sigmoid layer, by NumPy; X may be CSR."""
    for weights, biases in layers[:-1]:
        X = X @ weights + biases
        X = np.maximum(X, SLOPE * X)
    return expit(X @ layers[-1][0] + layers[-1][1])


def decoded(X: Any, feature_net: Any, decoder_net: Any) -> np.ndarray:
    """Scores (N, L) in (0, 1): the decoder's outputs for the latent features of the rows."""
    return apply_net(apply_net(X, feature_net) - 0.5, decoder_net)


@dataclass(eq=False, repr=False)
class C2AE(NeuralMethod):
    """C2AE, canonical-correlated autoencoder (Yeh, Wu, Ko and Wang, 2017).

    Features and label sets are mapped to one latent space where they should coincide and have uncorrelated
    coordinates; a decoder ranks labels from there. New rows go through the feature net and the decoder.

    Parameters
    ----------
    alpha : float, default 0.5
        Weight of the ranking loss of the decoded labels.
    alpha_meaning : {"multiply", "divide"}, default "multiply"
        The paper multiplies the ranking loss by alpha, the authors' program divides by it.
    epochs : int, optional
        By default the 50 of the authors' program, or more on small data: as many as make 400 steps, while the learning
        rate falls as much in all. 50 steps, one per epoch, would leave the nets almost where they started.
    latent : float, default 0.8
        Latent units for each label.
    hidden : int, default 512
        Units of every hidden layer.
    batch_size : int, default 500
        Part of the model: the correlation terms sum over a batch. The last batch is filled up from the first.
    learning_rate : float, default 1e-4
        Falls by 2 % an epoch, or as much in all where ``epochs`` is None.
    weight_decay : float, default 1e-3
        Times the squared norm of the weights; biases are free.
    validation_fraction : float, default 0
        Share of the rows held out to pick the epoch of the highest micro-F1 + macro-F1; 0 keeps the last epoch.
    device : {"cpu", "cuda"}, default "cpu"
    progress : callable, optional
        Called with (epochs done, epochs in all).
    random_state : int, RandomState or None, default 0
        Of the first weights, the rows held out and the order of rows.

    Attributes
    ----------
    feature_net_, decoder_net_ : tuples of (weights, biases)
        Layers that a prediction passes through; ``best_epoch_`` is the epoch that they come from.
    n_iter_ : int

    Notes
    -----
    Outputs are trained to rank, not to lie on either side of 0.5, so labels (outputs of at least 0.5) are much worse
    than rankings. Rows with no label or all labels count in the correlation terms alone. A weight counts a row as often
    as it says in all sums. The program's second decoder, which it trains and never uses, is left out.

    References
    ----------
    C.-K. Yeh, W.-C. Wu, W.-J. Ko and Y.-C. F. Wang, "Learning deep latent spaces for multi-label classification",
    AAAI 2017.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=100, random_state=0)
    >>> C2AE(epochs=2, hidden=16, batch_size=50).fit(data.X, data.Y).predict(data.X).shape == data.Y.shape
    True
    """

    PAPER_GRID: ClassVar = {"alpha": (0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 3.0, 5.0, 7.0, 9.0, 10.0)}
    _parameter_constraints: ClassVar[dict] = CONSTRAINTS | {
        "epochs": [*COUNT, None],
        "hidden": COUNT,
        "alpha_meaning": [StrOptions({"multiply", "divide"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
    }

    alpha: float = 0.5
    _: KW_ONLY
    alpha_meaning: str = "multiply"
    epochs: int | None = None
    latent: float = 0.8
    hidden: int = 512
    batch_size: int = 500
    learning_rate: float = 1e-4
    weight_decay: float = 1e-3
    validation_fraction: float = 0.0

    def _epoch_count(self, n_rows):
        n_trained = n_rows - self._held_out(n_rows)
        return self.epochs or max(EPOCHS, -(-UPDATES // -(-n_trained // self.batch_size)))

    def _held_out(self, n_rows):
        fraction = self.validation_fraction
        return min(n_rows - 1, max(1, round(fraction * n_rows))) if fraction else 0

    def _device(self):
        return torch_device("cuda") if self.device == "cuda" else None

    def _limited(self):
        return blas_threads(2.0 * self.batch_size * self.hidden**2)

    def _epochs(self, X, Y, w, rng, device):
        Y, n_rows = with_complement(Y), len(Y)
        q, H, n_held = max(1, round(self.latent * Y.shape[1])), self.hidden, self._held_out(n_rows)
        sizes = [[X.shape[1], H, H, q], [Y.shape[1], H, q], [q, H, Y.shape[1]]]
        like = np.empty(0, np.float32) if device is None else load_torch().zeros(0, device=device)
        nets = Nets(rng, sizes, self.weight_decay, like)
        order = rng.permutation(n_rows) if n_held else np.arange(n_rows)
        train, test = np.sort(order[: n_rows - n_held]), order[n_rows - n_held :]
        rows, best = Rows(X[train], Y[train], w[train], like), (-1.0, {})
        weight = self.alpha if self.alpha_meaning == "multiply" else 1 / self.alpha
        fall = FALL if self.epochs else FALL ** (EPOCHS / self._epoch_count(n_rows))
        for epoch in count():
            for drawn in wrapped_batches(rng.permutation(len(train)), self.batch_size):
                nets.differentiate(*rows.batch(drawn), weight)
                nets.optimiser.step(nets.gradient, self.learning_rate * fall**epoch)
            kept = partial(nets.state, epoch + 1)
            if n_held:
                state = kept()
                labels = decoded(X[test], state["feature_net_"], state["decoder_net_"]) >= 0.5
                merit = micro_f1_score(Y[test], labels) + macro_f1_score(Y[test], labels)
                best = max(best, (merit, state), key=itemgetter(0))
                kept = partial(dict, best[1])
            yield kept

    def _scores(self, X):
        outputs = decoded(X, self.feature_net_, self.decoder_net_)
        # a single label is trained against its complement in column 0
        return (1 + outputs[:, 1:] - outputs[:, :1]) / 2 if self._binary else outputs
