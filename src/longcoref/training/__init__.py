"""Training: examples, the loop, checkpoints, cross-validation. Needs `longcoref[train]`."""
