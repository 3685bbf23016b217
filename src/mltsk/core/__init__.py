"""The mathematics of ML-TSK FS: plain typed functions and frozen dataclasses on arrays.

Nothing in here imports scikit-learn, pandas, torch or dask; where arrays are torch tensors, `arrays` finds functions for
them. Rows are samples everywhere (the paper is transposed); equation numbers in the docstrings are the paper's.
"""
