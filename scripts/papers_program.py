"""The paper's program written down once more, line by line and without our package.

``python scripts/papers_program.py`` writes ``tests/golden/made_up_*.npz``: made-up
data, and what this transcription finds in them. Tests compare `mltsk.paper` with these
files, so that parity can be checked where neither the benchmark data nor the authors'
own output are at hand. ``python scripts/papers_program.py FOLDER`` compares the
transcription with the authors' own output (MATLAB program under GNU Octave) in the
``.npz`` files of a folder, and prints the largest differences.

Nothing here is fast, and nothing is shared with ``src/mltsk``: plain loops over rules,
features and labels, in the order of the program. In each rule of G the features come
first and the bias last.
"""

import sys
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden"
# alpha, beta, gamma
SETTINGS = (
    (0.01, 0.1, 1.0),
    (1.0, 0.1, 1.0),
    (1.0, 1.0, 10.0),
    (10.0, 0.01, 0.1),
    (0.1, 0.01, 100.0),
    (100.0, 10.0, 1.0),
)
CASES = {
    # name: rows, features, labels, rules, width scale h, training rows, seed
    "wide": (60, 5, 4, 3, 10.0, 45, 1),
    "narrow": (50, 12, 3, 2, 0.01, 40, 2),
}


# clusters and widths ------------------------------------------------------------------


def fuzzy_c_means(X, U, max_iter=100, tolerance=1e-6):
    """Centres (K, D) and memberships (K, N) from first memberships U (K, N), m = 2."""
    previous = np.inf
    for _ in range(max_iter):
        weights = U**2
        centers = weights @ X / weights.sum(axis=1)[:, None]
        distances = np.empty_like(U)
        for k, center in enumerate(centers):
            distances[k] = np.sqrt(((X - center) ** 2).sum(axis=1))
        loss = (weights * distances**2).sum()
        inverse = distances**-2
        U = inverse / inverse.sum(axis=0)
        if abs(loss - previous) < tolerance:
            break
        previous = loss
    return centers, U


def rule_widths(X, centers, U, h):
    """b = h · variance + eps (K, D), weighted by the memberships."""
    widths = np.empty_like(centers)
    for k, center in enumerate(centers):
        for d in range(X.shape[1]):
            variance = (U[k] * (X[:, d] - center[d]) ** 2).sum() / U[k].sum()
            widths[k, d] = h * variance + np.finfo(float).eps
    return widths


def rule_map(X, centers, widths):
    """G (N, K(D+1)): a row on which no rule fires is 0."""
    rows = []
    for x in X:
        products = []
        for center, width in zip(centers, widths, strict=True):
            products.append(np.prod(np.exp(-((x - center) ** 2) / width)))
        total = sum(products)
        parts = []
        for product in products:
            firing = product / (total if total != 0 else np.finfo(float).eps)
            parts.append(firing * np.append(x, 1.0))
        rows.append(np.concatenate(parts))
    return np.array(rows)


# consequents --------------------------------------------------------------------------


def algorithm_one(G, Y, alpha, beta, gamma, max_iter=100, margin=0.01):
    """Consequents W (K(D+1), L) and the number of steps, as the program stops."""
    A = G.T @ G
    B = G.T @ Y
    R = 1 - np.corrcoef(Y.T)
    W = np.linalg.solve(A + gamma * np.eye(len(A)), B)
    W_old = W
    squares = np.linalg.norm(A, 2) ** 2 + np.linalg.norm(alpha * R, 2) ** 2
    lipschitz = np.sqrt(2 * squares)
    b_old, b = 1.0, 1.0
    loss_old = 0.0
    n_steps = 0
    while n_steps < max_iter:
        n_steps += 1
        V = W + (b_old - 1) / b * (W - W_old)
        Z = V - (A @ V - B + alpha * V @ R) / lipschitz
        W_old = W
        W = np.maximum(Z - beta / lipschitz, 0) + np.minimum(Z + beta / lipschitz, 0)
        b_old, b = b, (1 + np.sqrt(4 * b**2 + 1)) / 2
        misfit = np.trace((G @ W - Y).T @ (G @ W - Y))
        coupled = alpha * np.trace(R @ W.T @ W)
        loss = misfit + coupled + beta * np.count_nonzero(W)
        if abs(loss_old - loss) <= margin or loss <= 0:
            break
        loss_old = loss
    return W, n_steps


# metrics ------------------------------------------------------------------------------


def metrics(Y, scores):
    """AP, HL, OE, RL and CV, with the program's ties and label sets."""
    n_labels = Y.shape[1]
    predicted = scores >= 0.5
    precisions, errors, losses, depths = [], [], [], []
    for y, s in zip(Y, scores, strict=True):
        relevant = [j for j in range(n_labels) if y[j] == 1]
        others = [j for j in range(n_labels) if y[j] != 1]
        # CV: of tied labels the lower index ranks first
        order = sorted(range(n_labels), key=lambda j: (-s[j], j))
        ranks = [order.index(j) + 1 for j in relevant]
        depths.append((max(ranks) if ranks else 0) - 1)
        if not others:
            continue
        # AP: of tied labels the higher index ranks first
        order = sorted(range(n_labels), key=lambda j: (-s[j], -j))
        ranks = sorted(order.index(j) + 1 for j in relevant)
        shares = [(i + 1) / rank for i, rank in enumerate(ranks)]
        precisions.append(np.mean(shares) if shares else 0.0)
        # OE: any relevant label at the top will do
        errors.append(not any(s[j] == max(s) for j in relevant))
        wrong = sum(s[j] <= s[i] for j in relevant for i in others)
        losses.append(wrong / (len(relevant) * len(others)) if relevant else 0.0)
    return np.array(
        [
            np.mean(precisions),
            np.mean(predicted != (Y == 1)),
            np.mean(errors),
            np.mean(losses),
            np.mean(depths) / n_labels,
        ]
    )


# files --------------------------------------------------------------------------------


def made_up(name):
    """A made-up case: data, first memberships, and all that the program finds."""
    n, n_features, n_labels, n_rules, h, n_train, seed = CASES[name]
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_rules, size=n)
    places = rng.random((n_rules, n_features))
    X = places[groups] + 0.25 * rng.standard_normal((n, n_features))
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    effects = rng.standard_normal((n_features, n_labels))
    leaning = (X - 0.5) @ effects + 0.3 * rng.standard_normal((n, n_labels))
    Y = (leaning > 0).astype(float)
    U = rng.random((n_rules, n))
    U /= U.sum(axis=0)
    centers, memberships = fuzzy_c_means(X, U)
    settled, _ = fuzzy_c_means(X, U, max_iter=5000, tolerance=1e-15)
    widths = rule_widths(X, centers, memberships, h)
    G = rule_map(X, centers, widths)
    fits = [algorithm_one(G[:n_train], Y[:n_train], *each) for each in SETTINGS]
    W = np.array([fit[0] for fit in fits])
    found = [metrics(Y[n_train:], G[n_train:] @ each) for each in W]
    return {
        "X": X,
        "Y": Y,
        "start": U,
        "centers": centers,
        "settled_centers": settled,
        "memberships": memberships,
        "widths": widths,
        "G": G,
        "params": np.array(SETTINGS),
        "W": W,
        "n_iter": np.array([fit[1] for fit in fits]),
        "metrics": np.array(found),
        "n_train": np.array(n_train),
        "h": np.array(h),
    }


def compare(path):
    """Print how far the transcription is from the authors' output in a file."""
    with np.load(path, allow_pickle=False) as file:
        run = {key: file[key] for key in file.files}
    X, Y = run["X"], run["Y"].astype(float)
    n_train = int(run["n_train"])
    G = rule_map(X, run["centers"], run["widths"])
    distances = np.stack([((X - c) ** 2).sum(axis=1) for c in run["centers"]])
    U = 1 / distances / (1 / distances).sum(axis=0)
    # the program's own memberships are of the step before its centres
    widths = rule_widths(X, run["centers"], U, float(run["h"]))
    centers, _ = fuzzy_c_means(X, U, max_iter=1)
    print(path.stem)
    print(f"  centres after one step from theirs  {gap(centers, run['centers'])}")
    print(f"  widths from their centres           {gap(widths, run['widths'])}")
    print(f"  G from their centres and widths     {gap(G, run['G'])}")
    train = run["G"][:n_train], Y[:n_train]
    outputs = zip(run["params"], run["W"], run["n_iter"], run["metrics"], strict=True)
    for setting, W, n_iter, values in outputs:
        mine, steps = algorithm_one(*train, *setting)
        own = metrics(Y[n_train:], run["G"][n_train:] @ mine)
        print(
            f"  alpha, beta, gamma {setting}: steps {steps} and {n_iter}, "
            f"W {gap(mine, W)}, metrics {gap(own, values)}"
        )


def gap(mine, theirs):
    """The largest difference, as text."""
    return f"{np.abs(mine - theirs).max():.1e}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for reference in sorted(Path(sys.argv[1]).glob("*.npz")):
            compare(reference)
    else:
        for case in CASES:
            np.savez_compressed(GOLDEN / f"made_up_{case}.npz", **made_up(case))
