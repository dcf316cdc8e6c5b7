---------------------- MODULE MCKeyReplicatedLiveness ----------------------
(* What happens in the end, as TLC checks it: two items of one byte each, of which either cache holds one. `call` stays
   out of VIEW: of the states that differ in nothing else, the same can happen. *)
EXTENDS KeyReplicatedLiveness, KeyReplicatedRequests

(***************************************************************************)
(* Twins: a fairness that is missing; and what must be reached, lest a     *)
(* property holds because nothing it speaks of ever happens.               *)
(***************************************************************************)
NothingDelivered == WatchedSpec /\ MissesAreFollowed
MissesForgotten == WatchedSpec /\ ChannelDelivers

NeverWaiting == ~IsWaiting
NeverDrifted == \A key \in {"a", "b"} : ~IsDrifted(key)
=============================================================================
