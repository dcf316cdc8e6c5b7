"""The protocol as pure functions on frozen values.

Each module is one component under the name it has in `spec/`, and offers the same few names:
`Config`, `PRESETS`, `State`, `Operation`, `initial`, `operations`, `step`, `bare`, `view`, `observe`,
`RULES`, `ASPECTS`
(see `component.py`).
"""
