------------------------ MODULE MCShmCachesLiveness ------------------------
(* What happens in the end, as TLC checks it: two items of which the ring holds one. `call` stays out of VIEW: of the
   states that differ in nothing else, the same can happen. *)
EXTENDS ShmCachesLiveness, ShmRequests

(***************************************************************************)
(* Twins: a fairness that is missing; an exception that is; and what must  *)
(* be reached, lest a property holds because nothing it speaks of ever     *)
(* happens.                                                                *)
(***************************************************************************)
NothingRead == WatchedSpec /\ RequestsGoOn /\ WorkersLive
NothingFinished == WatchedSpec /\ WorkersRead /\ WorkersLive /\ WF_exactView(Retry(1))
NothingRetried == WatchedSpec /\ WorkersRead /\ WorkersLive /\ WF_exactView(Finish(1))
AlwaysDying == WatchedSpec /\ WorkersRead /\ RequestsGoOn

ReclaimableThoughAsked == \A key \in Keys : IsHeld(key) ~> ~IsHeld(key)

NeverWaiting == ~IsWaiting
NeverHeld == \A key \in Keys : ~IsHeld(key)
=============================================================================
