------------------------- MODULE MCShmCachesService -------------------------
(* The refinement as TLC checks it, with requests of the presets, and a rule that is broken on purpose. *)
EXTENDS ShmCachesService, ShmRequests

\* For HandleAt: every handle is that of the oldest chunk.
HandleOfOldest(held, place) ==
    [key |-> held.entries[place].key, id |-> held.ring.chunks[1].id, begin |-> held.ring.chunks[1].begin]
=============================================================================
