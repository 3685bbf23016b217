"""
Text: sparse documents
======================

Documents as word counts: many features, of which a sample has a handful. The matrix stays sparse from the first step to
the scores, and rules name the words.
"""

# %%
# Notes from an invented help desk
# --------------------------------
# Each note is about one to three topics and uses their words, among others.
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

rng = np.random.default_rng(2)
TOPICS = {
    "printing": [
        "printer",
        "paper",
        "toner",
        "tray",
        "jam",
        "page",
        "colour",
        "duplex",
        "queue",
        "driver",
    ],
    "network": [
        "wifi",
        "router",
        "cable",
        "signal",
        "offline",
        "address",
        "proxy",
        "slow",
        "connection",
        "port",
    ],
    "account": [
        "password",
        "login",
        "locked",
        "expired",
        "reset",
        "username",
        "token",
        "mail",
        "access",
        "rights",
    ],
    "hardware": [
        "screen",
        "keyboard",
        "battery",
        "fan",
        "noise",
        "broken",
        "dock",
        "mouse",
        "charger",
        "crack",
    ],
    "software": [
        "install",
        "update",
        "version",
        "crash",
        "licence",
        "window",
        "error",
        "restart",
        "plugin",
        "menu",
    ],
}
COMMON = [
    "the",
    "a",
    "my",
    "is",
    "not",
    "please",
    "help",
    "since",
    "yesterday",
    "again",
    "today",
    "with",
    "and",
    "after",
    "before",
    "when",
    "urgent",
    "office",
]


def write_note(topics):
    """A dozen words: two of each topic, one of any topic, and common ones."""
    own = [
        word for topic in topics for word in rng.choice(TOPICS[topic], 2, replace=False)
    ]
    stray = rng.choice(TOPICS[rng.choice(list(TOPICS))], 1)
    return " ".join(rng.permutation([*own, *stray, *rng.choice(COMMON, 8)]))


Y = pd.DataFrame(
    (rng.random((700, 5)) < [0.3, 0.35, 0.3, 0.25, 0.4]).astype(int),
    columns=list(TOPICS),
)
Y.loc[Y.sum(axis=1) == 0, "software"] = 1
notes = [
    write_note([topic for topic in TOPICS if row[topic]]) for _, row in Y.iterrows()
]
print(notes[0], "→", ", ".join(Y.columns[Y.iloc[0] == 1]))

# %%
# Words as features
# -----------------
# A CSR matrix would go in as it is; as a data frame of sparse columns it also brings the words along as names.
vectorizer = TfidfVectorizer(
    max_df=0.25
)  # words in every fourth note say nothing about its topic
words = vectorizer.fit_transform(notes)
X = pd.DataFrame.sparse.from_spmatrix(words, columns=vectorizer.get_feature_names_out())
print(
    f"{words.shape[0]} notes, {words.shape[1]} words, {words.nnz / np.prod(words.shape):.0%} of the entries stored"
)

# %%
# Fit and read
# ------------
# Sparse input has a scale of its own, ``clf.scale_``: features stay as they are, samples get unit length, and the
# general rule has one linear term per word.
from mltsk import MLTSKClassifier, evaluate

clf = MLTSKClassifier().fit(X[:500], Y[:500])
found = evaluate(Y[500:], clf.decision_function(X[500:]), threshold=0)
print(clf.scale_, {name: round(found[name], 3) for name in ("AP", "HL", "micro_F1")})
print(clf.shorten(6).rules_)

# %%
# Words that speak for a topic
# ----------------------------
from mltsk.explain import plot

figure = plot.feature_importance(clf, top=18)

# %%
# Why was the next note sorted as it was?
print(notes[500])
print(clf.explain(X[500:501]).for_label(*Y.columns[clf.predict(X[500:501])[0] == 1]))
