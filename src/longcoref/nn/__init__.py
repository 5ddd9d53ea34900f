"""The neural functions in torch, for training. Running a model needs none of this: see `runtime`."""
