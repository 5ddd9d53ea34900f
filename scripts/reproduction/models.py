"""The paper's models by short names: umem, umem-star, lb-5, rb-20."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from longcoref.errors import UsageError
from longcoref.memory import MemoryPolicy, memory_policy

_LABELS = {"unbounded": "U-MEM", "track-all": "U-MEM*", "learned": "LB-MEM", "rule": "RB-MEM"}


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """A memory and how it is trained; `trained` are other capacities than its own, 0 for unbounded."""

    name: str
    policy: str
    cells: int | None
    trained: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Its name in the paper."""
        return _LABELS[self.policy] + (f" {self.cells}" if self.cells else "")

    @property
    def memory(self) -> MemoryPolicy:
        """The memory itself."""
        return memory_policy(self.policy, self.cells)

    @property
    def training(self) -> dict[str, Any]:
        """The keys of [train] for this model. U-MEM* tracks invalid mentions, so it is trained on half of them."""
        return {
            "policy": self.policy,
            "cells": self.trained or (self.cells or 0,),
            "dev_policy": self.policy,
            "dev_cells": self.cells or 0,
            **({"keep_invalid": 0.5} if self.policy == "track-all" else {}),
        }

    @property
    def settings(self) -> list[str]:
        """The settings for `longcoref train --set` for this model."""
        values = {
            **{f"train.{key}": list(value) if key == "cells" else value for key, value in self.training.items()},
            "model.fertility": "true" if self.policy in ("learned", "rule") else "false",
            "memory.policy": self.policy,
            **({"memory.cells": self.cells} if self.cells else {}),
        }
        return [f"{key}={value}" for key, value in values.items()]


def memory_model(name: str) -> MemoryModel:
    """The model of a short name."""
    if name in ("umem", "umem-star"):
        return MemoryModel(name, "unbounded" if name == "umem" else "track-all", None)
    found = re.fullmatch(r"(lb|rb)-([1-9][0-9]*)", name)
    if found is None:
        raise UsageError(f"unknown model {name!r} (choose from umem, umem-star, and lb-N and rb-N with N cells)")
    return MemoryModel(name, "learned" if found[1] == "lb" else "rule", int(found[2]))
