"""A fit of rows that lie elsewhere, in blocks: every pass over them brings back a small statistic, and those add up.

`rows` says what a pass is, the other modules what the passes of a fit compute. Where the blocks lie (in memory, on the
workers of a cluster) only the implementation of `rows.Passes` knows.
"""
