"""C2AE: features and labels meet in one latent space; labels are read back from there.

Nets of features F_x, encoder F_e and decoder F_d minimise Phi + alpha Gamma (the paper)
or Phi + Gamma / alpha (the authors' program), sums over the rows of a mini-batch. A new
row scores F_d(F_x(x)).

    Phi   = ||F_x - F_e||² + 1/2 (||F_x'F_x - I||² + ||F_e'F_e - I||²)
    Gamma = sum_i 1/(|Y_i| |Y_i'|)
            sum over k in Y_i, l in Y_i' of exp(-5 (o_ik - o_il)) / 5,   o = F_d(F_e(y))

In training columns are rows of data, rows are units. A net is a list of matrices
W (out, in + 1), biases last, that are views of one vector; x (in + 1, B) and every
hidden layer end with a row of ones. Hidden units are max(z, z / 10). Outputs are
centred, c = sigmoid(z) - 1/2 = tanh(z / 2) / 2, so that dc/dz = 1/4 - c².

A gradient travels back as a product C'A, of which only A (r, B) varies with the rows of
data; the last layer sends A = dLoss/dz and C = W. A unit whose sign is the same for all
rows of the batch has one slope s there and is linear: its part stays a product, s C.
Only units of mixed sign (set M) need a row d = (C'A) ∘ slope of their own:

    A ← [A; d_M],   dLoss/dW = s C'(A x') and d_M x' for M,   C ← [s C W; W_M]

Encoder and decoder see label sets alone. Where that halves the work they pass each set
of a batch once, with the weight of all its rows; ``member`` (sets, B) tells which. Both
ways are exact; docs/methods/c2ae.md says what they are worth.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import count, pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from ...core.arrays import (
    Array,
    Matrix,
    asnumpy,
    cast,
    dense,
    is_tensor,
    namespace,
    put,
    row_blocks,
)
from .base import CONSTRAINTS, COUNT, Constraints, register
from .nets import (
    NeuralMethod,
    Tensor,
    batches,
    load_torch,
    pair_share,
    views,
    with_complement,
)

# Of the authors' program: passes through the rows, and the factor of the learning rate
# from one pass to the next.
PROGRAM_EPOCHS = 50
RATE_FALL = 0.98
# Fewest steps that train the nets: emotions has AP .61 after 50, .81 after 400.
MIN_STEPS = 400
LEAKY_SLOPE = 0.1  # of hidden units below 0
# What the optimiser takes of an array at a time: five arrays, 640 KB, stay in the
# second cache.
OPTIMISER_BYTES = 1 << 17
SHARPNESS = 5.0  # of the ranking loss

Layer = tuple[Array, Array]  # weights (in, out) and biases (out,) of a fitted net


def with_ones(x: Tensor) -> Tensor:
    """x (n, B) with a row of ones below it."""
    xp = namespace(x)
    return xp.concatenate([x, xp.ones((1, x.shape[1]), dtype=x.dtype, like=x)])


def forward(net: Sequence[Tensor], x: Tensor) -> list[Tensor]:
    """Values of all layers for x (in + 1, B).

    They are x, the hidden layers with their row of ones, and the outputs c.
    """
    xp = namespace(x)
    layers = [x]
    for W in net[:-1]:
        h = xp.empty((len(W) + 1, x.shape[1]), dtype=x.dtype, like=x)
        z = xp.matmul(W, layers[-1], out=h[:-1])
        if is_tensor(z):
            xp.nn.functional.leaky_relu_(z, LEAKY_SLOPE)
        else:
            np.maximum(z, LEAKY_SLOPE * z, out=z)
        h[-1] = 1
        layers.append(h)
    return [*layers, xp.tanh((net[-1] @ layers[-1]) / 2) / 2]


def backward(
    net: Sequence[Tensor],
    layers: Sequence[Tensor],
    dc: Tensor,
    into: Sequence[Tensor],
    inputs: bool = False,
) -> Tensor:
    """Write dLoss/dW of every layer into ``into``, from dLoss/dc (out, B).

    ``layers`` are those of `forward`. Returned is dLoss/dx (in, B) if ``inputs``, else
    None.
    """
    A = dc * (0.25 - layers[-1] ** 2)
    linear = None  # s C of the layer; where it is None, A is dLoss/dz
    mixed = None  # M, the units of mixed sign
    for k in reversed(range(len(net))):
        x = layers[k]
        h = x[:-1]
        W = net[k][:, :-1]
        if linear is None:
            namespace(x).matmul(A, x.T, out=into[k])
            C = W
        else:
            T = A @ x.T
            np.matmul(linear.T, T[: len(linear)], out=into[k])
            into[k][mixed] = T[len(linear) :]
            C = np.concatenate([linear @ W, W[mixed]])
        if k == 0:
            return C.T @ A if inputs else None
        linear = None
        if not is_tensor(h):  # a GPU would wait for the answer, and gain little
            slopes = _common_slopes(h)
            mixed = np.flatnonzero(slopes == 0)
            if len(A) + len(mixed) <= len(h):
                own = (C[:, mixed].T @ A) * _slopes(h[mixed])
                A = np.concatenate([A, own])
                linear = C * slopes
        if linear is None:
            A = C.T @ A * _slopes(h)
    return None


def _slopes(h: Tensor) -> Tensor:
    """Slopes of hidden units with values h."""
    return cast(h > 0, h.dtype) * (1 - LEAKY_SLOPE) + LEAKY_SLOPE


def _common_slopes(h: Array) -> Array:
    """The slope (n,) of every unit over a batch h (n, B), 0 for units with both."""
    slopes = np.zeros(len(h), h.dtype)
    slopes[h.max(axis=1) <= 0] = LEAKY_SLOPE
    slopes[h.min(axis=1) > 0] = 1
    return slopes


def embedding_gradients(
    F_x: Tensor, F_e: Tensor, w: Tensor, member: Tensor = None
) -> tuple[Tensor, Tensor]:
    """Derivatives of Phi in F_x (q, B) and F_e (q, B), or (q, sets) with members.

    With K = F diag(w) F' they are 2 (K_x F_x - F_e) diag(w), where
    F_x - F_e + (K_x - I) F_x cancels, and likewise. w is (B,), ``member`` (sets, B).
    """
    encoded = F_e
    seen = F_x * w
    weight = w
    K_x = seen @ F_x.T
    if member is not None:
        encoded = F_e @ member
        seen = seen @ member.T
        weight = member @ w
    K_e = (F_e * weight) @ F_e.T
    return 2 * w * (K_x @ F_x - encoded), 2 * (weight * (K_e @ F_e) - seen)


def ranking_gradient(o: Tensor, Y: Tensor, share: Tensor) -> Tensor:
    """Derivative of Gamma in outputs o (L, B) of labels Y (L, B).

    ``share`` (B,) is weight / (|Y| |Y'|), 0 without a pair.
    """
    u = namespace(o).exp(SHARPNESS * (1 - 2 * Y) * o)
    relevant = (u * Y).sum(0)
    return share * u * (relevant - Y * u.sum(0))


def starting_layers(rng: np.random.RandomState, sizes: Sequence[int]) -> list[Layer]:
    """First weights and biases of a net, as the authors draw them.

    Its layers are leaky, but for a sigmoid layer at its end.
    """
    layers: list[Layer] = []
    for shape in pairwise(sizes[:-1]):
        weights = rng.uniform(-0.01, 0.01, shape)
        layers.append((weights, rng.uniform(0, 0.1, shape[1])))
    bound = 4 * np.sqrt(6 / (sizes[-2] + sizes[-1]))
    weights = rng.uniform(-bound, bound, (sizes[-2], sizes[-1]))
    layers.append((weights, np.zeros(sizes[-1])))
    return layers


class NetBatch(NamedTuple):
    """A mini-batch: B different rows, and their label sets.

    ``x`` (D + 1, B) are features with a row of ones; ``Y`` (L, sets) label sets and
    ``share`` (sets,) their shares of a pair; ``member`` (sets, B) tells who has which,
    or is None where every row has a column of its own; ``w`` (B,) are weights.
    """

    x: Tensor
    Y: Tensor
    share: Tensor
    member: Tensor
    w: Tensor


class Nets:
    """The three nets with their gradients and optimiser, as views of one vector theta.

    They are in single precision, and lie where ``like`` lies. ``sizes`` are the layers
    of the feature net, the encoder and the decoder.

    The authors' steps are gradients g over their running root mean square, with
    momentum: r ← sqrt(0.9 r² + 0.1 g²), r = |g| at first; delta ← 0.99 delta - rate · g
    / r; theta ← theta + delta. What is kept is 10 r², which saves a root and a product;
    g / r counts as 0 where every gradient so far was 0. ``decay`` times theta is added
    to g.
    """

    def __init__(
        self,
        rng: np.random.RandomState,
        sizes: Sequence[Sequence[int]],
        weight_decay: float,
        like: Tensor,
    ) -> None:
        layers = []
        for net in sizes:
            for weights, biases in starting_layers(rng, net):
                layers.append(np.column_stack([weights.T, biases]))
        shapes = [W.shape for W in layers]
        theta = np.concatenate([W.ravel() for W in layers]).astype(np.float32)
        self.theta = put(theta, like)
        self.gradient = self.theta * 0
        self.squares = self.theta * 0
        self.delta = self.theta * 0
        self.decay = self.theta * 0
        for W in views(self.decay, shapes):
            W[:, :-1] = 2 * weight_decay  # biases are free
        nets = views(self.theta, shapes)
        self.feature = nets[:3]
        self.encoder = nets[3:5]
        self.decoder = nets[5:]
        gradients = views(self.gradient, shapes)
        self.gradients = (gradients[:3], gradients[3:5], gradients[5:])
        # Weight of the newest squares: the first gradient counts ten times, as r = |g|.
        self.newest = 10

    def step(self, rate: float) -> None:
        """Move theta, in place, against the gradient, which is overwritten."""
        chunks = row_blocks(len(self.theta), 4, OPTIMISER_BYTES, like=self.theta)
        for chunk in chunks:
            theta = self.theta[chunk]
            g = self.gradient[chunk]
            squares = self.squares[chunk]
            delta = self.delta[chunk]
            g += self.decay[chunk] * theta
            squares *= 0.9
            squares += self.newest * (g * g)
            delta *= 0.99
            delta -= (rate * 10**0.5) * (g / (namespace(g).sqrt(squares) + 1e-18))
            theta += delta
        self.newest = 1

    def differentiate(self, weight: float, batch: NetBatch) -> None:
        """Put the gradient of Phi + weight · Gamma over a batch where it belongs."""
        x, Y, share, member, w = batch
        f = forward(self.feature, x)
        e = forward(self.encoder, with_ones(Y))
        d = forward(self.decoder, with_ones(e[-1]))
        share = weight * share * (w if member is None else member @ w)
        dF_x, dF_e = embedding_gradients(f[-1], e[-1], w, member)
        feature, encoder, decoder = self.gradients
        backward(self.feature, f, dF_x, feature)
        do = ranking_gradient(d[-1], Y, share)
        dF_e = dF_e + backward(self.decoder, d, do, decoder, inputs=True)
        backward(self.encoder, e, dF_e, encoder)

    def state(self, epoch: int) -> dict[str, Any]:
        """The fitted attributes after an epoch, by name.

        They are the layers of the two nets that a prediction passes through.
        """
        return {
            "best_epoch_": epoch,
            "feature_net_": _fitted_net(self.feature),
            "decoder_net_": _fitted_net(self.decoder),
        }


def _fitted_net(net: Sequence[Tensor]) -> tuple[Layer, ...]:
    """Weights and biases of every layer, as arrays of their own."""
    layers = []
    for W in net:
        stacked = asnumpy(W).astype(np.float64)
        layers.append((stacked[:, :-1].T.copy(), stacked[:, -1].copy()))
    return tuple(layers)


class AutoencoderRows:
    """Training data of a run, and the batches made of them.

    A batch of the same rows as the last one is made from the same arrays.
    """

    def __init__(self, X: Matrix, Y: Array, w: Array, like: Tensor) -> None:
        ones = np.ones((len(Y), 1), np.float32)
        X = X.astype(np.float32)
        if sparse.issparse(X):
            self.X = sparse.hstack([X, ones], "csr")
        else:
            self.X = np.hstack([X, ones])
        self.Y = Y.astype(np.float32)
        self.w = w.astype(np.float32)
        self.like = like
        self.share = pair_share(self.Y).astype(np.float32)
        # Which label set a row has.
        self.ids = np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1)
        self.last_rows = np.empty(0, int)
        self.last: NetBatch | None = None

    def batch(self, drawn: NDArray[np.intp]) -> NetBatch:
        """The batch of the rows that were drawn.

        A row drawn twice counts twice, for less work than two.
        """
        rows, counts = np.unique(drawn, return_counts=True)
        w = self._put(self.w[rows] * counts)
        if self.last is None or not np.array_equal(rows, self.last_rows):
            self.last_rows = rows
            self.last = self._gathered(rows, w)
        return self.last._replace(w=w)

    def _gathered(self, rows: NDArray[np.intp], w: Tensor) -> NetBatch:
        """The batch of different rows with weights w."""
        x = np.ascontiguousarray(dense(self.X[rows]).T)
        member = None
        sets, first, own = np.unique(
            self.ids[rows], return_index=True, return_inverse=True
        )
        if 2 * len(sets) <= len(rows):
            member = self._put(np.arange(len(sets))[:, None] == own)
            rows = rows[first]
        return NetBatch(
            x=self._put(x),
            Y=self._put(np.ascontiguousarray(self.Y[rows].T)),
            share=self._put(self.share[rows]),
            member=member,
            w=w,
        )

    def _put(self, array: np.ndarray) -> Tensor:
        """An array in single precision, where the nets lie."""
        return put(array.astype(np.float32, copy=False), self.like)


def decoded(
    X: Matrix, feature_net: Sequence[Layer], decoder_net: Sequence[Layer]
) -> Array:
    """Scores (N, L) in (0, 1) of rows X (N, D), which may be CSR, by NumPy.

    They are the decoder's outputs for the latent features of the rows.
    """
    latent = _applied(X, feature_net) - 0.5
    return _applied(latent, decoder_net)


def _applied(X: Matrix, net: Sequence[Layer]) -> Array:
    """Outputs of a fitted net for rows X: leaky layers, then a sigmoid layer."""
    for weights, biases in net[:-1]:
        X = X @ weights + biases
        X = np.maximum(X, LEAKY_SLOPE * X)
    weights, biases = net[-1]
    return expit(X @ weights + biases)


def sum_of_f1(Y: Array, labels: NDArray[np.bool_]) -> float:
    """Micro-F1 + macro-F1 of predicted labels (N, L), as in the authors' program.

    A label that is neither true nor predicted does not count.
    """
    hits = (Y * labels).sum(axis=0)
    marks = (Y + labels).sum(axis=0)
    used = marks > 0
    if not used.any():
        return 0.0
    macro = float(np.mean(2 * hits[used] / marks[used]))
    return 2 * hits.sum() / marks.sum() + macro


@register("c2ae")
@dataclass(eq=False, repr=False)
class C2AE(NeuralMethod):
    """C2AE, canonical-correlated autoencoder (Yeh, Wu, Ko and Wang, 2017).

    Features and label sets are mapped to one latent space where they should coincide
    and have uncorrelated coordinates; a decoder ranks labels from there. New rows go
    through the feature net and the decoder.

    Parameters
    ----------
    alpha : float, default 0.5
        Weight of the ranking loss of the decoded labels.
    alpha_meaning : {"multiply", "divide"}, default "multiply"
        The paper multiplies the ranking loss by alpha, the authors' program divides by
        it.
    epochs : int, optional
        By default the 50 of the authors' program, or more on small data: as many as
        make 400 steps, while the learning rate falls as much in all. 50 steps, one per
        epoch, would leave the nets almost where they started.
    latent : float, default 0.8
        Latent units for each label.
    hidden : int, default 512
        Units of every hidden layer.
    batch_size : int, default 500
        Part of the model: the correlation terms sum over a batch. The last batch is
        filled up from the first.
    learning_rate : float, default 1e-4
        Falls by 2 % an epoch, or as much in all where ``epochs`` is None.
    weight_decay : float, default 1e-3
        Times the squared norm of the weights; biases are free.
    validation_fraction : float, default 0
        Share of the rows held out to pick the first epoch of the highest
        micro-F1 + macro-F1; 0 keeps the last epoch.
    device, progress
        As in `BPMLL`.
    random_state : int, RandomState or None, default 0
        Of the first weights, the rows held out and the order of rows.

    Attributes
    ----------
    feature_net_, decoder_net_ : tuples of (weights, biases)
        Layers that a prediction passes through; ``best_epoch_`` is the epoch that they
        come from.
    n_iter_ : int

    Notes
    -----
    Outputs are trained to rank, not to lie on either side of 0.5, so labels (outputs of
    at least 0.5) are much worse than rankings. Rows with no label or all labels count
    in the correlation terms alone. A weight counts a row as often as it says in all
    sums. The program's second decoder, which it trains and never uses, is left out.

    References
    ----------
    C.-K. Yeh, W.-C. Wu, W.-J. Ko and Y.-C. F. Wang, "Learning deep latent spaces for
    multi-label classification", AAAI 2017.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=100, random_state=0)
    >>> model = C2AE(epochs=2, hidden=16, batch_size=50).fit(data.X, data.Y)
    >>> model.predict(data.X).shape == data.Y.shape
    True
    """

    PAPER_GRID: ClassVar = {
        "alpha": (0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 3.0, 5.0, 7.0, 9.0, 10.0)
    }
    _parameter_constraints: ClassVar[Constraints] = CONSTRAINTS | {
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
        """Epochs of the authors' program, or as many as make MIN_STEPS steps."""
        steps_per_epoch = self._batches_of(n_rows - self._n_held_out(n_rows))
        return max(PROGRAM_EPOCHS, -(-MIN_STEPS // steps_per_epoch))

    def _batches_of(self, n_rows):
        """Batches that cover all rows."""
        return -(-n_rows // self.batch_size)

    def _n_held_out(self, n_rows):
        """How many rows are held out to pick an epoch."""
        if not self.validation_fraction:
            return 0
        return min(n_rows - 1, max(1, round(self.validation_fraction * n_rows)))

    def _flops(self, X):
        return 2.0 * self.batch_size * self.hidden**2

    def _sizes(self, D, L):
        """Units in the layers of feature net, encoder and decoder."""
        H = self.hidden
        q = max(1, round(self.latent * L))
        return [[D, H, H, q], [L, H, q], [q, H, L]]

    def _epochs(self, X, Y, w, rng, device):
        Y = with_complement(Y)
        n_rows = len(Y)
        if device is None:
            like = np.empty(0, np.float32)
        else:
            like = load_torch().zeros(0, device=device)
        nets = Nets(rng, self._sizes(X.shape[1], Y.shape[1]), self.weight_decay, like)
        n_held_out = self._n_held_out(n_rows)
        order = rng.permutation(n_rows) if n_held_out else np.arange(n_rows)
        train = np.sort(order[: n_rows - n_held_out])
        held_out = order[n_rows - n_held_out :]
        rows = AutoencoderRows(X[train], Y[train], w[train], like)
        best_state = nets.state(0)
        best_score = 0.0
        for epoch in count():
            rate = self.learning_rate * self._rate_fall(n_rows) ** epoch
            self._train(nets, rows, rng, rate)
            if not n_held_out:
                yield partial(nets.state, epoch + 1)
                continue
            state = nets.state(epoch + 1)
            scores = decoded(X[held_out], state["feature_net_"], state["decoder_net_"])
            score = sum_of_f1(Y[held_out], scores >= 0.5)
            if score > best_score:
                best_state = state
                best_score = score
            yield partial(dict, best_state)

    def _rate_fall(self, n_rows):
        """Factor of the learning rate from one epoch to the next.

        Over the default epochs it falls as much as in the authors' program.
        """
        if self.epochs:
            return RATE_FALL
        return RATE_FALL ** (PROGRAM_EPOCHS / self._default_epochs(n_rows))

    def _train(self, nets, rows, rng, rate):
        """Go through the rows once, in a new order."""
        n_rows = len(rows.Y)
        weight = self.alpha if self.alpha_meaning == "multiply" else 1 / self.alpha
        # The last batch is filled up from the first.
        n_drawn = self._batches_of(n_rows) * self.batch_size
        order = np.resize(rng.permutation(n_rows), n_drawn)
        for drawn in batches(order, self.batch_size):
            nets.differentiate(weight, rows.batch(drawn))
            nets.step(rate)

    def _scores(self, X):
        outputs = decoded(X, self.feature_net_, self.decoder_net_)
        if self._binary:
            # A single label is trained against its complement in column 0.
            return (1 + outputs[:, 1:] - outputs[:, :1]) / 2
        return outputs
