"""The items of TRIPOD+AI, in our own words.

Collins GS, Moons KGM, Dhiman P, et al. TRIPOD+AI statement: updated guidance for
reporting clinical prediction models that use regression or machine learning methods.
BMJ 2024;385:e078378. It has 27 items; those with letters have several parts, 52 in
all. Numbers and topics are those of the checklist in its version of 11 January 2024.
"""

from typing import NamedTuple

TRIPOD_CITATION = (
    "Collins GS, Moons KGM, Dhiman P, et al. TRIPOD+AI statement: updated guidance for "
    "reporting clinical prediction models that use regression or machine learning "
    "methods. BMJ 2024;385:e078378."
)


class TripodItem(NamedTuple):
    """An item: its number, the part of a paper it belongs to, and what it asks for."""

    number: str
    part: str
    asks: str


TRIPOD_ITEMS = tuple(
    TripodItem(*item)
    for item in (
        (
            "1",
            "Title",
            "a title that names model study, people, outcome and kind of work",
        ),
        ("2", "Abstract", "a summary by the checklist for abstracts"),
        (
            "3a",
            "Introduction",
            "the health problem, why a model is needed, models that exist",
        ),
        (
            "3b",
            "Introduction",
            "for whom the model is, where in care, and who would use it",
        ),
        ("3c", "Introduction", "known differences in health between groups of people"),
        (
            "4",
            "Introduction",
            "the aims, and whether a model is developed, judged, or both",
        ),
        (
            "5a",
            "Methods: data",
            "where the data come from, why these, whom they represent",
        ),
        ("5b", "Methods: data", "from when to when data were collected and followed"),
        ("6a", "Methods: people", "the setting, and number and place of the centres"),
        ("6b", "Methods: people", "who could take part and who could not"),
        ("6c", "Methods: people", "treatments that people had, and what was done"),
        (
            "7",
            "Methods: preparation",
            "how data were prepared and checked, alike in all groups",
        ),
        ("8a", "Methods: outcome", "what is predicted, when and how it was assessed"),
        ("8b", "Methods: outcome", "who assessed it, if judgement is needed"),
        ("8c", "Methods: outcome", "what was done to blind those who assessed it"),
        ("9a", "Methods: predictors", "how predictors were chosen for consideration"),
        ("9b", "Methods: predictors", "what each predictor is and how it was measured"),
        ("9c", "Methods: predictors", "who measured them, if judgement is needed"),
        ("10", "Methods: sample size", "how many rows, why, and whether that suffices"),
        ("11", "Methods: missing data", "how missing values were handled"),
        ("12a", "Methods: analysis", "which rows were used for what"),
        ("12b", "Methods: analysis", "in which form predictors came into the model"),
        ("12c", "Methods: analysis", "the kind of model, how it was built and checked"),
        ("12d", "Methods: analysis", "differences between clusters such as hospitals"),
        ("12e", "Methods: analysis", "the measures and plots of performance, and why"),
        ("12f", "Methods: analysis", "changes of the model after it was judged"),
        ("12g", "Methods: analysis", "how predictions are computed"),
        ("13", "Methods: imbalance", "whether and how rare outcomes were treated"),
        ("14", "Methods: fairness", "what was done about fairness, and why"),
        ("15", "Methods: output", "what the model gives, and how thresholds were set"),
        (
            "16",
            "Methods: training and evaluation",
            "how data of both differ, if they do",
        ),
        ("17", "Methods: ethics", "the ethics committee, and consent"),
        ("18a", "Open science", "funding"),
        ("18b", "Open science", "conflicts of interest"),
        ("18c", "Open science", "where the protocol is"),
        ("18d", "Open science", "where the study is registered"),
        ("18e", "Open science", "whether data can be had"),
        ("18f", "Open science", "whether code can be had"),
        ("19", "Patients and public", "how patients and the public took part"),
        ("20a", "Results: people", "how many people came through each step"),
        ("20b", "Results: people", "what the people are like, with missing values"),
        ("20c", "Results: people", "how people of the evaluation differ"),
        ("21", "Results: development", "rows and cases in each analysis"),
        (
            "22",
            "Results: the model",
            "the whole model, so that others can use and judge it",
        ),
        (
            "23a",
            "Results: performance",
            "performance with intervals, also for key groups",
        ),
        ("23b", "Results: performance", "differences in performance between clusters"),
        (
            "24",
            "Results: updating",
            "the model after a change, and how it performs then",
        ),
        ("25", "Discussion", "what the results mean, fairness included, next to aims"),
        ("26", "Discussion", "limits of the study, and what they do to the results"),
        (
            "27a",
            "Discussion: use",
            "what to do where inputs are poor or missing at use",
        ),
        (
            "27b",
            "Discussion: use",
            "what users must do and know to handle inputs and output",
        ),
        (
            "27c",
            "Discussion: use",
            "what comes next, and whether the model holds elsewhere",
        ),
    )
)
