"""Mishaps: what happens to real processes, and does a target survive?   [spec/05-drift.md, 08-shm-caches.md]

P0 and the workers of a target run in processes of their own (`mmcache_ref.protocol.processes`), clients ask
for much at once, and in between a process is killed or stopped, a connection is cut, the segment is removed
or written into. `judge` does it round after round, `soak` for minutes on end.
"""
