"""The mathematics of ML-TSK FS: plain typed functions and frozen dataclasses on arrays.

Nothing in here knows scikit-learn, pandas, torch or dask. Rows are samples everywhere (the paper is transposed);
equation numbers in the docstrings are the paper's.
"""
