"""Training: examples, the loop, checkpoints, cross-validation. Needs `longcoref[train]`."""

from longcoref.errors import optional_module

for _name in ("torch", "transformers", "onnx"):
    optional_module(_name, extra="train", needed_for="training")
