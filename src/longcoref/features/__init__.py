"""What is computed from words before any score, shared by training and inference.

`facts` describes one mention, `matching` compares the strings of mentions and entities, `pairs` turns a mention and an
entity into the codes of the pair features, and `candidates` lists the spans that may be mentions.
"""
