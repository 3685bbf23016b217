"""The mathematics of ML-TSK FS: typed functions and frozen dataclasses on arrays.

Nothing in here imports scikit-learn, pandas, torch or dask; `arrays` calls torch only
where the caller passes tensors. Rows are samples everywhere (the paper is transposed).
Equation numbers in the docstrings are those of the paper.
"""
