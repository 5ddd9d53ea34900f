"""The paper's section 3 without tensors: which actions are legal for a mention, and which one is right.

`policies` offers the legal actions, `second_step` chooses among them by score, `oracle` knows the right one, `cells`
applies an action to the memory, and `decode` turns a sequence of actions into clusters.
"""

from longcoref.memory.actions import Action, ActionKind
from longcoref.memory.cells import Cells
from longcoref.memory.decode import decode
from longcoref.memory.oracle import oracle_actions
from longcoref.memory.policies import (
    POLICIES,
    GivenMentions,
    LearnedMemory,
    MemoryPolicy,
    Options,
    RuleMemory,
    TrackAllMemory,
    UnboundedMemory,
    WithRecall,
    chosen_policy,
    memory_policy,
)

__all__ = [
    "POLICIES",
    "Action",
    "ActionKind",
    "Cells",
    "GivenMentions",
    "LearnedMemory",
    "MemoryPolicy",
    "Options",
    "RuleMemory",
    "TrackAllMemory",
    "UnboundedMemory",
    "WithRecall",
    "chosen_policy",
    "decode",
    "memory_policy",
    "oracle_actions",
]
