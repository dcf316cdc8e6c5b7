"""TLC beside the oracle: finds Java and TLC, runs `models/`, and compares state spaces.

TLC is the model checker of TLA+. It runs on Java; both come as wheels with the extra `tlc`.
"""
