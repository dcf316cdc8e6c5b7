"""The mutation score of the oracle: the reference is mutated, and only the oracle judges each mutant.

operators.py   what cosmic-ray does not mutate
generate.py    the mutants of a source file, and how each is named
judge.py       one mutant before the oracle: the graphs, then fuzzing, until the first violation
session.py     every mutant in a process of its own, forked from one that has imported the rest
survivors.py   the survivors that are explained, in survivors.toml
report.py      score, survivors with their diffs, and what of the explanations no longer fits
"""
