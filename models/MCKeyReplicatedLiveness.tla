---------------------- MODULE MCKeyReplicatedLiveness ----------------------
(* What happens in the end, as TLC checks it: two items of one byte each, of which either cache holds one. `call` stays
   out of VIEW: of the states that differ in nothing else, the same can happen. *)
EXTENDS KeyReplicatedLiveness, KeyReplicatedRequests

(***************************************************************************)
(* Twins: a fairness that is missing or too weak; and what must be reached, lest a     *)
(* property holds because nothing it speaks of ever happens.               *)
(***************************************************************************)
NothingDelivered == WatchedSpec /\ MissesAreFollowed
MissesForgotten == WatchedSpec /\ ChannelDelivers
ClearsUnheard == WatchedSpec /\ WF_view(Deliver(1)) /\ MissesAreFollowed
MissesFollowedWeakly ==
    WatchedSpec /\ ChannelDelivers /\ WF_view(Update) /\ WF_view(HandleReport(1)) /\ WF_view(Retry(1))
AskedWeakly ==
    FairSpec /\ \A key \in {"a", "b"} : WF_view(\E request \in Requests : request[1].key = key /\ Submit(request))

NeverWaiting == ~IsWaiting
NeverDrifted == \A key \in {"a", "b"} : ~IsDrifted(key)
=============================================================================
