"""
Scenes: pictures from raw pixels, and thresholds
================================================

What is to be seen in a picture: a lawn, the sun, a house, several of them or none?
Small pictures are painted here, described by nothing but their colours, and the
thresholds of the labels are then chosen for a purpose.
"""

# %%
# Painted pictures
# ----------------
# Sixteen by sixteen pixels, a sky above, and whatever belongs to the labels of a
# picture, with noise on top.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
LABELS = ["sun", "lawn", "house", "night"]
n = 600
has_label = rng.random((n, 4)) < [0.35, 0.5, 0.3, 0.25]
Y = pd.DataFrame(has_label.astype(int), columns=LABELS)
Y.loc[Y["night"] == 1, "sun"] = 0  # labels that exclude each other are correlated too


def paint(sun, lawn, house, night):
    """One picture, 16 × 16 × 3 values around 0 to 1."""
    sky = [0.1, 0.1, 0.3] if night else [0.5, 0.7, 0.95]
    green = np.array([0.2, 0.6, 0.2]) * (0.5 if night else 1)
    brick = np.array([0.7, 0.3, 0.25]) * (0.6 if night else 1)
    picture = np.tile(sky, (16, 16, 1))
    picture[10:] = [0.45, 0.4, 0.3]
    if lawn:
        picture[rng.integers(9, 12) :] = green
    if sun:
        row = rng.integers(1, 5)
        column = rng.integers(1, 13)
        picture[row : row + 3, column : column + 3] = [1, 0.9, 0.3]
    if house:
        column = rng.integers(1, 10)
        picture[6:12, column : column + 5] = brick
    return picture + rng.normal(0, 0.12, picture.shape)


pictures = np.stack([paint(*labels) for labels in Y.to_numpy()])
_, axes = plt.subplots(2, 4, figsize=(8, 4.6), layout="constrained")
for ax, picture, labels in zip(axes.flat, pictures, Y.to_numpy(), strict=False):
    ax.imshow(picture.clip(0, 1))
    ax.set_title(", ".join(np.array(LABELS)[labels == 1]) or "none", fontsize=9)
    ax.set_axis_off()
plt.show()

# %%
# Features with names
# -------------------
# Mean colour and its spread in a grid of four by four: names make rules readable.
cells = pictures.reshape(n, 4, 4, 4, 4, 3)
columns = {}
for c, colour in enumerate(["red", "green", "blue"]):
    for i, height in enumerate(["top", "upper", "lower", "bottom"]):
        for j, side in enumerate(["far left", "left", "right", "far right"]):
            cell = cells[:, i, :, j, :, c]
            name = f"{colour} {height} {side}"
            columns[name] = cell.mean(axis=(1, 2))
            columns[f"{name}, spread"] = cell.std(axis=(1, 2))
X = pd.DataFrame(columns)
train = slice(0, 450)
test = slice(450, None)

# %%
# Fit
# ---
from mltsk import MLTSKClassifier, evaluate

clf = MLTSKClassifier().fit(X[train], Y[train])
metrics = {"0.5": evaluate(Y[test], clf.decision_function(X[test]), threshold=0)}
print(clf.shorten(3, max_conditions=3).rules_)

# %%
# What the model looks at, label by label:
from mltsk.explain import plot

figure = plot.feature_importance(clf, top=12)

# %%
# Thresholds for a purpose
# ------------------------
# 0.5 need not be the best cut of a score. ``threshold="f1"`` takes the one with the
# best F1 on leave-one-out scores; ``("recall", 0.95)`` the highest one that finds 95 of
# 100 there.
wishes = {"f1": "f1", "recall 0.95": ("recall", 0.95)}
for name, wish in wishes.items():
    tuned = MLTSKClassifier(threshold=wish).fit(X[train], Y[train])
    scores = tuned.decision_function(X[test])
    metrics[name] = evaluate(Y[test], scores, threshold=0)
pd.DataFrame(metrics).round(3)
