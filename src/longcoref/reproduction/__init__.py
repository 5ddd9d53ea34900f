"""The paper again: every table and figure from records on disk, by one command.

`experiments` says what is to be done, `stages` does one piece of it in a process of its own, `figures` reads what the
pieces wrote, `report` puts it beside the paper's figures. Needs `longcoref[train]` and `longcoref[plots]`.
"""
