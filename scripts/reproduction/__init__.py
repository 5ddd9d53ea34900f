"""The paper's tables and figures, reproduced by one command (`scripts/reproduce.py`) from records on disk.

`experiments` plans the tasks, `stages` and `measures` run one of them in a process of its own, `figures` reads their
records, and `report` compares these with the paper's figures. Needs `longcoref[train]` and `longcoref[plots]`.
"""
