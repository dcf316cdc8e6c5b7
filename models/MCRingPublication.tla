------------------------- MODULE MCRingPublication -------------------------
(* RingPublication as TLC checks it: the readers of the presets of mmcache_ref/model/publication_environment.py,
   and three at once; the graph written out, and rules that are broken on purpose. Most twins leave out a protection. *)
EXTENDS RingPublication, Graph

ReadsTiny == <<{"b"}, {"a", "b"}>>
ReadsSmall == <<{"a"}, {"a", "b"}>>
ReadsThree == <<{"b"}, {"a"}, {"a", "b"}>>

AllAccidents == {"clear-meanwhile", "early-handle", "load-reordering", "look-alike", "stale-handle", "store-reordering"}

\* What the store does by itself, with a writer that has the lock; and when its writer has none.
ByDefault == {"barrier-after-copy", "barrier-after-wipe", "barrier-before-copy", "barrier-before-seal",
              "check-under-lock", "count-last", "count-under-lock", "handle-last", "seal-last", "seals",
              "second-check", "wipe", "writer-takes-lock"}
WithoutWritersLock == ByDefault \ {"writer-takes-lock"}

\* Without one rule.
NoBarrierAfterCopy == WithoutWritersLock \ {"barrier-after-copy"}
NoBarrierAfterWipe == ByDefault \ {"barrier-after-wipe"}
NoBarrierBeforeCopy == ByDefault \ {"barrier-before-copy"}
NoBarrierBeforeSeal == ByDefault \ {"barrier-before-seal"}
NoCheckUnderLock == ByDefault \ {"check-under-lock"}
NoCountLast == ByDefault \ {"count-last"}
NoCountUnderLock == ByDefault \ {"count-under-lock"}
NoHandleLast == ByDefault \ {"handle-last"}
NoSealLast == ByDefault \ {"seal-last"}
NoSeals == ByDefault \ {"seals"}
NoSecondCheck == ByDefault \ {"second-check"}
NoWipe == ByDefault \ {"wipe"}

\* An action constraint that writes the graph.
Edge == EdgeIsWritten(view, call', view')

(***************************************************************************)
(* Twins: each .cfg that must fail puts one of these in a rule's place, or *)
(* has fewer protections.                                                  *)
(***************************************************************************)
\* For Order: the count comes behind the handle.
HandleBeforeCount == <<"header", "payload", "seal", "handle", "count">>

\* For Order: the seal comes before the payload.
SealBeforePayload == <<"header", "count", "seal", "payload", "handle">>

\* For Stored: a count begins below zero.
StoredBelowZero(access) ==
    IF access.word = "reader_count" THEN [owner |-> access.value, number |-> -1] ELSE access.value
=============================================================================
