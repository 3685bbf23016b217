"""
Music: which emotions does a song carry?
========================================

The emotions data describe 593 songs by 72 features of rhythm and timbre; listeners gave
each song some of six emotions. Labels that go together, such as *sad-lonely* and
*quiet-still*, are what multi-label learning is about.
"""

# %%
# Songs
# -----
# ``mltsk datasets fetch emotions`` brings the real data. Where they are missing this
# page is made with a stand-in: synthetic samples of the same shape, with names that say
# so.
from dataclasses import replace

from mltsk import MLTSKClassifier, evaluate, load_dataset
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

try:
    songs = load_dataset("emotions")
except InputError:
    invented = make_multilabel_rules(
        593, 72, 6, n_rules=5, noise=0.5, correlation=0.4, random_state=0
    )
    songs = replace(invented, name="synthetic stand-in for emotions")
print(songs)

# %%
# Fit
# ---
# The last 120 songs are kept for the test.
X, Y = songs.frames()
clf = MLTSKClassifier().fit(X[:-120], Y[:-120])
scores = clf.decision_function(X[-120:])
metrics = evaluate(Y[-120:], scores, threshold=0)
print(f"{clf.n_rules_} exceptions of order {clf.order_}")
for name in ("AP", "HL", "micro_F1", "tied_rows"):
    print(f"{name} {metrics[name]:.3f}")

# %%
# Labels that go together
# -----------------------
# Below the diagonal, how labels correlate in the data; above it, how much the model's
# numbers for them do.
from mltsk.explain import plot

figure = plot.label_correlation(clf, Y[:-120])

# %%
# A page of rules
# ---------------
# Four statements per emotion.
short = clf.shorten(4, max_conditions=3)
print(short.rules_)

# %%
# What the statements say, as curves; between the dashed lines they lie in 95 of 100
# cases.
figure = plot.shapes(short, top=4)

# %%
# Emotion by emotion
# ------------------
evaluate(Y[-120:], clf.predict_proba(X[-120:]), per_label=True).round(2)
