"""Where samples lie. Rows answer two questions, `sample` and `moments`, and differ in nothing else."""
