"""Algorithm I and its five metrics as one would write them down from the paper.

Ours is compared with it. It is organised like the authors' program: every setting
starts from G and Y, every step makes the four products of the text, and the metrics go
through the test rows one by one. No care was taken to make it slow, nor fast.
"""

import numpy as np


def plain_algorithm1(G, Y, alpha, beta, gamma, max_iter=100, margin=0.01):
    """Consequents W, and the number of steps."""
    A = G.T @ G
    B = G.T @ Y
    R = 1 - np.corrcoef(Y.T)
    W = W_old = np.linalg.solve(A + gamma * np.eye(len(A)), B)
    lip = np.sqrt(2 * (np.linalg.norm(A, 2) ** 2 + np.linalg.norm(alpha * R, 2) ** 2))
    b = b_old = 1.0
    old_loss = 0.0
    steps = 0
    while steps < max_iter:
        steps += 1
        V = W + (b_old - 1) / b * (W - W_old)
        Z = V - (A @ V - B + alpha * (V @ R)) / lip
        b_old = b
        b = (1 + np.sqrt(4 * b**2 + 1)) / 2
        W_old = W
        W = np.sign(Z) * np.maximum(np.abs(Z) - beta / lip, 0)
        errors = np.sum((G @ W - Y) ** 2)
        coupling = alpha * np.sum(R * (W.T @ W))
        loss = errors + coupling + beta * np.count_nonzero(W)
        if abs(old_loss - loss) <= margin or loss <= 0:
            break
        old_loss = loss
    return W, steps


def plain_metrics(Y, scores):
    """AP, HL, OE, RL, CV in the authors' convention.

    No row of Y may be empty or full, as none is in CAL500.
    """
    n_labels = Y.shape[1]
    rows = []
    for y, s in zip(Y > 0, scores, strict=True):
        rank = np.empty(n_labels)
        rank[np.argsort(s, kind="stable")] = np.arange(n_labels, 0, -1)
        ranks_of_labels = np.sort(rank[y])
        precision = np.mean(np.arange(1, len(ranks_of_labels) + 1) / ranks_of_labels)
        wrong = np.mean((s >= 0.5) != y)
        one_error = 0.0 if y[s == s.max()].any() else 1.0
        reversed_pairs = np.mean(s[y][:, None] <= s[~y][None, :])
        depth = np.flatnonzero(y[np.argsort(-s, kind="stable")])[-1] / n_labels
        rows.append((precision, wrong, one_error, reversed_pairs, depth))
    return np.mean(rows, axis=0)
