"""The paper's section 3 in words, without tensors: what may be done with a mention, and what should be.

`policies` says which actions are legal, `oracle` which one is right, `cells` what an action does to the
memory, `decode` which clusters a sequence of actions means.
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
    "decode",
    "memory_policy",
    "oracle_actions",
]
