"""The program of ML-HDTSK FS written down once more, without our package.

``python scripts/hdtsk_program.py`` writes ``tests/golden/made_up_hdtsk_*.npz``: made-up
data, and what this transcription finds in them. Tests compare
`mltsk.paper.methods.MLHDTSK` with these files. It agrees with the functions of the
authors' program (github.com/Ziwei-GH/ML-HDTSK-FS) to 2e-8 in consequents and in every
number of steps; they keep the width and the momentum in single precision.

Nothing here is fast, and nothing is shared with ``src/mltsk``: plain loops in the order
of the program. In each rule of G the features come first and the bias last.
"""

from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden"
# alpha, beta, gamma
SETTINGS = (
    (0.1, 1.0, 1.0),
    (0.01, 0.1, 1.0),
    (10.0, 0.01, 0.1),
    (1.0, 10.0, 10.0),
    (100.0, 0.1, 1.0),
    (0.1, 0.001, 0.01),
)
CASES = {
    # name: rows, features, labels, rules, training rows, seed
    "few": (60, 6, 5, 3, 45, 1),
    "many": (40, 80, 4, 2, 30, 2),
}


def cluster_centers(X, U, m=1.01, max_iter=100, error=1e-6):
    """Centres (K, D) of fuzzy c-means from first memberships U (K, N)."""
    eps = np.finfo(float).eps
    for _ in range(max_iter):
        U = np.fmax(U / U.sum(axis=0), eps)
        weights = U**m
        centers = weights @ X / weights.sum(axis=1)[:, None]
        distances = np.empty_like(U)
        for k, center in enumerate(centers):
            distances[k] = np.sqrt(((X - center) ** 2).sum(axis=1))
        distances = np.fmax(distances, eps)
        # relative to the nearest centre, so that the power is a number
        powers = (distances / distances.min(axis=0)) ** (-2 / (m - 1))
        updated = powers / powers.sum(axis=0)
        moved = np.linalg.norm(updated - U)
        U = updated
        if moved < error:
            break
    return centers


def rule_map(X, centers):
    """G (N, K(D+1)) of rules with one width, 2b² = 2D/1490."""
    twice_squared = 2 * X.shape[1] / 1490
    rows = []
    for x in X:
        products = [
            np.exp(-((x - center) ** 2).sum() / twice_squared) for center in centers
        ]
        parts = [product / sum(products) * np.append(x, 1.0) for product in products]
        rows.append(np.concatenate(parts))
    return np.array(rows)


def differences(Y):
    """R and C (L, L), by the share of rows that have one label of two and not both."""
    n_labels = Y.shape[1]
    distances = np.zeros((n_labels, n_labels))
    for i in range(n_labels):
        for j in range(n_labels):
            total = Y[:, i] + Y[:, j]
            one, both = (total == 1).sum(), (total == 2).sum()
            distances[i, j] = one / (one + both) if one + both else 0.0
    R = np.where(distances <= 0.5, 0.0, distances)
    C = np.where(distances >= 0.5, 1.0, distances)
    np.fill_diagonal(C, 1.0)
    return R, C


def group_slopes(W, n_rules, threshold=0.01):
    """Coefficients divided by the norm of their feature and label over the rules."""
    blocks = W.reshape(n_rules, -1, W.shape[1])
    slopes = np.empty_like(blocks)
    for d in range(blocks.shape[1]):
        for j in range(blocks.shape[2]):
            norm = np.sqrt((blocks[:, d, j] ** 2).sum())
            if norm <= threshold:
                norm = norm**2 / (2 * threshold) + threshold / 2
            slopes[:, d, j] = blocks[:, d, j] / norm
    return slopes.reshape(W.shape)


def loss(G, Y, W, R, C, alpha, beta, n_rules):
    """What the program watches to stop."""
    n = len(Y)
    blocks = W.reshape(n_rules, -1, W.shape[1])
    groups = np.sqrt((blocks**2).sum(axis=0)).sum()
    lengths = np.linalg.norm(W, axis=0)
    cosines = (W.T @ W) / np.outer(lengths, lengths)
    coupled = np.trace(R @ cosines + 1 - cosines - C + C @ cosines)
    misfit = ((G @ W - Y) ** 2).sum()
    return misfit / (2 * n) + beta * groups / n + alpha * coupled / (2 * n)


def consequents(G, Y, n_rules, alpha, beta, gamma, max_iter=100):
    """Consequents W (K(D+1), L) and the loss after every step."""
    A = G.T @ G
    B = G.T @ Y
    R, C = differences(Y)
    coupling = R + C - 1
    W = np.linalg.solve(A + gamma * np.eye(len(A)), B)
    W_old = W
    squares = np.linalg.norm(A) ** 2 + np.linalg.norm(alpha * coupling) ** 2
    lipschitz = np.sqrt(2 * squares)
    b_old, b = 1.0, 1.0
    losses = []
    while len(losses) < max_iter:
        slopes = group_slopes(W, n_rules)
        V = W + (b_old - 1) / b * (W - W_old)
        gradient = A @ V - B + alpha * V @ coupling + beta * slopes
        b_old, b = b, (1 + np.sqrt(4 * b**2 + 1)) / 2
        W_old = W
        W = V - gradient / lipschitz
        losses.append(loss(G, Y, W, R, C, alpha, beta, n_rules))
        if len(losses) > 1 and (losses[-2] - losses[-1] <= 1e-6 or losses[-1] <= 0):
            break
    return W, losses


def made_up(name):
    """A made-up case: data, first memberships, and all that the program finds."""
    n, n_features, n_labels, n_rules, n_train, seed = CASES[name]
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features))
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    leaning = X[:, :5] @ rng.standard_normal((5, n_labels))
    leaning += 0.2 * rng.standard_normal(leaning.shape)
    Y = (leaning > leaning.mean(axis=0)).astype(float)
    U = rng.random((n_rules, n))
    U /= U.sum(axis=0)
    centers = cluster_centers(X, U)
    G = rule_map(X, centers)
    fits = [consequents(G[:n_train], Y[:n_train], n_rules, *each) for each in SETTINGS]
    return {
        "X": X,
        "Y": Y,
        "start": U,
        "centers": centers,
        "G": G,
        "params": np.array(SETTINGS),
        "W": np.array([W for W, _ in fits]),
        "n_iter": np.array([len(losses) for _, losses in fits]),
        "last_loss": np.array([losses[-1] for _, losses in fits]),
        "coupling": sum(differences(Y[:n_train])) - 1,
        "n_train": np.array(n_train),
    }


if __name__ == "__main__":
    for case in CASES:
        np.savez_compressed(GOLDEN / f"made_up_hdtsk_{case}.npz", **made_up(case))
