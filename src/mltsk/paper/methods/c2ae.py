"""C2AE: features and labels meet in one latent space, and labels are read back from there.

Nets of features F_x, encoder F_e and decoder F_d minimise Phi + alpha Gamma (the paper) or Phi + Gamma / alpha (the
authors' program), sums over the rows of a mini-batch. A new row scores F_d(F_x(x)).

    Phi   = ||F_x - F_e||² + 1/2 (||F_x'F_x - I||² + ||F_e'F_e - I||²)
    Gamma = sum_i 1/(|Y_i| |Y_i'|) sum over k in Y_i, l in Y_i' of exp(-5 (o_ik - o_il)) / 5,   o = F_d(F_e(y))

In training columns are rows of data, rows are units. A net is a list of matrices W (out, in + 1), biases last, that are
views of one vector; x (in + 1, B) and every hidden layer end with a row of ones. Hidden units are max(z, z / 10),
outputs are centred, c = sigmoid(z) - 1/2 = tanh(z / 2) / 2, so that dc/dz = 1/4 - c².

A gradient travels back as a product C'A, of which only A (r, B) varies with the rows of data; the last layer sends
A = dLoss/dz and C = W. A unit whose sign is the same for all rows of the batch has one slope s there and is linear: its
part stays a product, s C. Only units of mixed sign (set M) need a row d = (C'A) ∘ slope of their own:

    A ← [A; d_M],   dLoss/dW = s C'(A x') and d_M x' for M,   C ← [s C W; W_M]

Encoder and decoder see label sets alone. Where that halves the work they pass each set of a batch once, with the weight
of all its rows; ``member`` (sets, B) tells which. Both ways are exact; docs/methods/c2ae.md says what they are worth.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import count, pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit

from ...core.arrays import asnumpy, cast, dense, is_tensor, namespace, put
from .base import CONSTRAINTS, COUNT
from .nets import NeuralMethod, batches, load_torch, pair_share, views, with_complement

EPOCHS, FALL = (
    50,
    0.98,
)  # of the authors' program: passes, and the learning rate's factor from one to the next
UPDATES = (
    400  # fewest steps that train the nets: emotions has AP .61 after 50, .81 after 400
)
SLOPE = 0.1  # of leaky units below 0
CHUNK = (
    1 << 15
)  # numbers that the optimiser takes at a time: five arrays of them, 640 KB, stay in the second cache
SHARPNESS = 5.0  # of the ranking loss


def with_ones(x: Any) -> Any:
    """x (n, B) with a row of ones below it."""
    xp = namespace(x)
    return xp.concatenate([x, xp.ones((1, x.shape[1]), dtype=x.dtype, like=x)])


def forward(net: Sequence[Any], x: Any) -> list[Any]:
    """Values of all layers: x (in + 1, B), hidden ones with their row of ones, and the outputs c."""
    xp, layers = namespace(x), [x]
    for W in net[:-1]:
        h = xp.empty((len(W) + 1, x.shape[1]), dtype=x.dtype, like=x)
        z = xp.matmul(W, layers[-1], out=h[:-1])
        if is_tensor(z):
            xp.nn.functional.leaky_relu_(z, SLOPE)
        else:
            np.maximum(z, SLOPE * z, out=z)
        h[-1] = 1
        layers.append(h)
    return [*layers, xp.tanh((net[-1] @ layers[-1]) / 2) / 2]


def backward(
    net: Sequence[Any],
    layers: Sequence[Any],
    dc: Any,
    into: Sequence[Any],
    inputs: bool = False,
) -> Any:
    """Write dLoss/dW of every layer into ``into``, from dLoss/dc (out, B); returns dLoss/dx (in, B) if ``inputs``."""
    A, linear, mixed = (
        dc * (0.25 - layers[-1] ** 2),
        None,
        None,
    )  # linear: s C, mixed: M; without them A is dLoss/dz
    for k in range(len(net) - 1, -1, -1):
        x, W, h = layers[k], net[k][:, :-1], layers[k][:-1]
        if linear is None:
            namespace(x).matmul(A, x.T, out=into[k])
        else:
            T = A @ x.T
            np.matmul(linear.T, T[: len(linear)], out=into[k])
            into[k][mixed] = T[len(linear) :]
        if k == 0 and not inputs:
            return None
        C, linear = (
            W if linear is None else np.concatenate([linear @ W, W[mixed]]),
            None,
        )
        if k and not is_tensor(h):  # a GPU would wait for the answer, and gain little
            # the slope of every unit, 0 for those that have both slopes in this batch
            slopes = np.where(
                h.min(axis=1) > 0, 1, np.where(h.max(axis=1) <= 0, SLOPE, 0)
            ).astype(h.dtype)
            mixed = np.flatnonzero(slopes == 0)
            if len(A) + len(mixed) <= len(h):
                A, linear = (
                    np.concatenate([A, (C[:, mixed].T @ A) * _slopes(h[mixed])]),
                    C * slopes,
                )
        if linear is None:
            A = C.T @ A * _slopes(h) if k else C.T @ A
    return A


def _slopes(h: Any) -> Any:
    return cast(h > 0, h.dtype) * (1 - SLOPE) + SLOPE


def embedding_gradients(
    F_x: Any, F_e: Any, w: Any, member: Any = None
) -> tuple[Any, Any]:
    """Derivatives of Phi in F_x (q, B) and F_e (q, B), or (q, sets) with a member matrix.

    With K = F diag(w) F' they are 2 (K_x F_x - F_e) diag(w), where F_x - F_e + (K_x - I) F_x cancels, and likewise.
    """
    encoded, seen, weight = F_e, F_x * w, w
    if member is not None:
        encoded, seen, weight = F_e @ member, seen @ member.T, member @ w
    K_x, K_e = (F_x * w) @ F_x.T, (F_e * weight) @ F_e.T
    return 2 * w * (K_x @ F_x - encoded), 2 * (weight * (K_e @ F_e) - seen)


def ranking_gradient(o: Any, Y: Any, share: Any) -> Any:
    """Derivative of Gamma in outputs o (L, B); ``share`` (B,) is weight / (|Y| |Y'|), 0 without a pair."""
    u = namespace(o).exp(SHARPNESS * (1 - 2 * Y) * o)
    relevant = (u * Y).sum(0)
    return share * u * (relevant - Y * u.sum(0))


def starting_layers(rng: Any, sizes: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """First weights and biases of a net with leaky layers and a sigmoid layer at its end, as the authors draw them."""
    leaky = [
        (rng.uniform(-0.01, 0.01, shape), rng.uniform(0, 0.1, shape[1]))
        for shape in pairwise(sizes[:-1])
    ]
    bound = 4 * np.sqrt(6 / (sizes[-2] + sizes[-1]))
    return [
        *leaky,
        (rng.uniform(-bound, bound, (sizes[-2], sizes[-1])), np.zeros(sizes[-1])),
    ]


class Nets:
    """The three nets in single precision where ``like`` lies, views of one vector theta, with gradients and optimiser.

    The authors' steps are gradients g over their running root mean square, with momentum: r ← sqrt(0.9 r² + 0.1 g²),
    r = |g| at first; delta ← 0.99 delta - rate · g / r; theta ← theta + delta. What is kept is 10 r², which saves a
    root and a product; g / r counts as 0 where every gradient so far was 0. ``decay`` times theta is added to g.
    """

    def __init__(
        self, rng: Any, sizes: list[list[int]], weight_decay: float, like: Any
    ) -> None:
        layers = [
            np.column_stack([W.T, b])
            for net in sizes
            for W, b in starting_layers(rng, net)
        ]
        shapes = [W.shape for W in layers]
        self.theta = put(
            np.concatenate([W.ravel() for W in layers]).astype(np.float32), like
        )
        self.gradient, self.decay, self.squares, self.delta = (
            self.theta * 0 for _ in range(4)
        )
        for W in views(self.decay, shapes):
            W[:, :-1] = 2 * weight_decay  # biases are free
        nets, gradients = views(self.theta, shapes), views(self.gradient, shapes)
        self.feature, self.encoder, self.decoder = nets[:3], nets[3:5], nets[5:]
        self.gradients, self.newest = (gradients[:3], gradients[3:5], gradients[5:]), 10

    def step(self, rate: float) -> None:
        """Move theta, in place, against the gradient, which is overwritten."""
        arrays = self.theta, self.gradient, self.squares, self.delta, self.decay
        chunk = len(self.theta) if is_tensor(self.theta) else CHUNK
        for start in range(0, len(self.theta), chunk):
            theta, g, squares, delta, decay = (
                array[start : start + chunk] for array in arrays
            )
            g += decay * theta
            squares *= 0.9
            squares += self.newest * (g * g)
            delta *= 0.99
            delta -= (rate * 10**0.5) * (g / (namespace(g).sqrt(squares) + 1e-18))
            theta += delta
        self.newest = 1

    def differentiate(
        self, weight: float, x: Any, Y: Any, share: Any, member: Any, w: Any
    ) -> None:
        """Put the gradient of Phi + weight · Gamma over a batch of `Rows` where it belongs."""
        f, e = forward(self.feature, x), forward(self.encoder, with_ones(Y))
        d = forward(self.decoder, with_ones(e[-1]))
        share = weight * share * (w if member is None else member @ w)
        dF_x, dF_e = embedding_gradients(f[-1], e[-1], w, member)
        feature, encoder, decoder = self.gradients
        backward(self.feature, f, dF_x, feature)
        dF_e = dF_e + backward(
            self.decoder, d, ranking_gradient(d[-1], Y, share), decoder, inputs=True
        )
        backward(self.encoder, e, dF_e, encoder)

    def state(self, epoch: int) -> dict[str, Any]:
        """Layers (weights, biases) of the two nets that a prediction passes through, and the epoch they come from."""
        found: dict[str, Any] = {"best_epoch_": epoch}
        for name, net in (
            ("feature_net_", self.feature),
            ("decoder_net_", self.decoder),
        ):
            stacked = [asnumpy(W).astype(np.float64) for W in net]
            found[name] = tuple((W[:, :-1].T.copy(), W[:, -1].copy()) for W in stacked)
        return found


class Rows:
    """Training data of a run, and the batches made of them; where the last one had the same rows it is taken again."""

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray, like: Any) -> None:
        X, ones = X.astype(np.float32), np.ones((len(Y), 1), np.float32)
        self.X = (
            sparse.hstack([X, ones], "csr")
            if sparse.issparse(X)
            else np.hstack([X, ones])
        )
        self.Y, self.w, self.like = Y.astype(np.float32), w.astype(np.float32), like
        self.share = pair_share(self.Y).astype(np.float32)
        self.ids = np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1)
        self.rows, self.gathered = np.empty(0, int), tuple[Any, ...]()

    def batch(self, drawn: np.ndarray) -> tuple[Any, ...]:
        """Features with ones (D + 1, B), label sets, their shares of a pair, who has which or None, weights (B,).

        A row drawn twice counts twice, for less work than two.
        """
        rows, counts = np.unique(drawn, return_counts=True)
        w = put((self.w[rows] * counts).astype(np.float32), self.like)
        if not np.array_equal(rows, self.rows):
            x, member, self.rows = (
                np.ascontiguousarray(dense(self.X[rows]).T),
                None,
                rows,
            )
            ids, first, own = np.unique(
                self.ids[rows], return_index=True, return_inverse=True
            )
            if 2 * len(ids) <= len(rows):
                rows, member = (
                    rows[first],
                    put(
                        (np.arange(len(ids))[:, None] == own).astype(np.float32),
                        self.like,
                    ),
                )
            arrays = (x, np.ascontiguousarray(self.Y[rows].T), self.share[rows])
            self.gathered = *(put(array, self.like) for array in arrays), member
        return *self.gathered, w


def decoded(X: Any, feature_net: Any, decoder_net: Any) -> np.ndarray:
    """Scores (N, L) in (0, 1): the decoder's outputs for the latent features of the rows, by NumPy; X may be CSR."""
    for layers, centre in ((feature_net, 0.5), (decoder_net, 0.0)):
        for weights, biases in layers[:-1]:
            X = X @ weights + biases
            X = np.maximum(X, SLOPE * X)
        X = expit(X @ layers[-1][0] + layers[-1][1]) - centre
    return X


def sum_of_f1(Y: np.ndarray, labels: np.ndarray) -> float:
    """Micro-F1 + macro-F1 as the authors' program adds them: a label that is neither true nor given does not count."""
    hits, marks = (Y * labels).sum(axis=0), (Y + labels).sum(axis=0)
    used = marks > 0
    return (
        2 * hits.sum() / marks.sum() + float(np.mean(2 * hits[used] / marks[used]))
        if used.any()
        else 0.0
    )


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
        Share of the rows held out to pick the first epoch of the highest micro-F1 + macro-F1; 0 keeps the last epoch.
    device, progress
        As in `BPMLL`.
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

    PAPER_GRID: ClassVar = {
        "alpha": (0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 3.0, 5.0, 7.0, 9.0, 10.0)
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "epochs": [*COUNT, None],
        "hidden": COUNT,
    }
    _needs_torch: ClassVar[bool] = False

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

    def _default_epochs(self, n_rows):
        n_trained = n_rows - self._held_out(n_rows)
        return max(EPOCHS, -(-UPDATES // -(-n_trained // self.batch_size)))

    def _held_out(self, n_rows):
        fraction = self.validation_fraction
        return min(n_rows - 1, max(1, round(fraction * n_rows))) if fraction else 0

    def _flops(self, X):
        return 2.0 * self.batch_size * self.hidden**2

    def _epochs(self, X, Y, w, rng, device):
        Y, n_rows = with_complement(Y), len(Y)
        q, H, n_held = (
            max(1, round(self.latent * Y.shape[1])),
            self.hidden,
            self._held_out(n_rows),
        )
        sizes = [[X.shape[1], H, H, q], [Y.shape[1], H, q], [q, H, Y.shape[1]]]
        like = (
            np.empty(0, np.float32)
            if device is None
            else load_torch().zeros(0, device=device)
        )
        nets = Nets(rng, sizes, self.weight_decay, like)
        order = rng.permutation(n_rows) if n_held else np.arange(n_rows)
        train, test = np.sort(order[: n_rows - n_held]), order[n_rows - n_held :]
        rows, best = (
            Rows(X[train], Y[train], w[train], like),
            (0.0, nets.state(0) if n_held else {}),
        )
        weight = self.alpha if self.alpha_meaning == "multiply" else 1 / self.alpha
        fall = FALL if self.epochs else FALL ** (EPOCHS / self._default_epochs(n_rows))
        n_drawn = (
            -(-len(train) // self.batch_size) * self.batch_size
        )  # the last batch is filled up from the first
        for epoch in count():
            for drawn in batches(
                np.resize(rng.permutation(len(train)), n_drawn), self.batch_size
            ):
                nets.differentiate(weight, *rows.batch(drawn))
                nets.step(self.learning_rate * fall**epoch)
            kept = partial(nets.state, epoch + 1)
            if n_held:
                state = kept()
                labels = (
                    decoded(X[test], state["feature_net_"], state["decoder_net_"])
                    >= 0.5
                )
                best = max(
                    best, (sum_of_f1(Y[test], labels), state), key=lambda pair: pair[0]
                )
                kept = partial(dict, best[1])
            yield kept

    def _scores(self, X):
        outputs = decoded(X, self.feature_net_, self.decoder_net_)
        # a single label is trained against its complement in column 0
        return (1 + outputs[:, 1:] - outputs[:, :1]) / 2 if self._binary else outputs
