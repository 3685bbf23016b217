"""How a user's X, y, weights and rules become rows, in memory or on Dask."""
