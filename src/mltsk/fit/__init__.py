"""One way to fit: a general rule and exceptions to it, in one ridge problem.

`mltsk.fit.fit` has it. Nothing is imported here: who reads the wishes of a model needs
no fit, which would take twice the time of everything else (``python -m benchmarks
start``).
"""
