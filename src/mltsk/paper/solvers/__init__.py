"""Solvers for consequents: Algorithm I as its authors run it, and problem (24).

The convex form of problem (24) is solved to a certified optimum.
"""
