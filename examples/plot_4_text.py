"""
Text: sparse documents
======================

Documents as word counts: many features, of which a sample has a handful. The matrix
stays sparse from the first step to the scores, and rules name the words.
"""

# %%
# Notes from an invented help desk
# --------------------------------
# Each note is about one to three topics and uses their words, among others.
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

rng = np.random.default_rng(2)
TOPIC_WORDS = """
printing: printer paper toner tray jam page colour duplex queue driver
network: wifi router cable signal offline address proxy slow connection port
account: password login locked expired reset username token mail access rights
hardware: screen keyboard battery fan noise broken dock mouse charger crack
software: install update version crash licence window error restart plugin menu
"""
COMMON_WORDS = """
the a my is not please help since yesterday again today with and after before when
urgent office
"""
COMMON = COMMON_WORDS.split()
TOPICS = {}
for line in TOPIC_WORDS.strip().splitlines():
    topic, _, words = line.partition(":")
    TOPICS[topic] = words.split()


def write_note(topics):
    """A dozen words: two of each topic, one of any topic, and common ones."""
    words = []
    for topic in topics:
        words += list(rng.choice(TOPICS[topic], 2, replace=False))
    words += list(rng.choice(TOPICS[rng.choice(list(TOPICS))], 1))
    words += list(rng.choice(COMMON, 8))
    return " ".join(rng.permutation(words))


has_topic = rng.random((700, 5)) < [0.3, 0.35, 0.3, 0.25, 0.4]
Y = pd.DataFrame(has_topic.astype(int), columns=list(TOPICS))
Y.loc[Y.sum(axis=1) == 0, "software"] = 1
notes = []
for _, row in Y.iterrows():
    notes.append(write_note(Y.columns[row == 1]))
print(notes[0], "→", ", ".join(Y.columns[Y.iloc[0] == 1]))

# %%
# Words as features
# -----------------
# A CSR matrix would go in as it is; as a data frame of sparse columns it also brings
# the words along as names.
# Words in every fourth note say nothing about its topic.
vectorizer = TfidfVectorizer(max_df=0.25)
words = vectorizer.fit_transform(notes)
X = pd.DataFrame.sparse.from_spmatrix(words, columns=vectorizer.get_feature_names_out())
n_notes, n_words = words.shape
stored = words.nnz / (n_notes * n_words)
print(f"{n_notes} notes, {n_words} words, {stored:.0%} of the entries stored")

# %%
# Fit and read
# ------------
# Sparse input has a scale of its own, ``clf.scale_``: features stay as they are,
# samples get unit length, and the general rule has one linear term per word.
from mltsk import MLTSKClassifier, evaluate

clf = MLTSKClassifier().fit(X[:500], Y[:500])
metrics = evaluate(Y[500:], clf.decision_function(X[500:]), threshold=0)
print(f"scale: {clf.scale_}")
for name in ("AP", "HL", "micro_F1"):
    print(f"{name} {metrics[name]:.3f}")
print(clf.shorten(6).rules_)

# %%
# Words that speak for a topic
# ----------------------------
from mltsk.explain import plot

figure = plot.feature_importance(clf, top=18)

# %%
# Why was the next note sorted as it was?
print(notes[500])
note = X[500:501]
topics = Y.columns[clf.predict(note)[0] == 1]
print(clf.explain(note).for_label(*topics))
