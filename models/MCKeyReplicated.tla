-------------------------- MODULE MCKeyReplicated --------------------------
(* KeyReplicated as TLC checks it: the requests of the presets, the graph written out, and rules that are broken on
   purpose. `call` stays out of VIEW, since no action and no invariant reads it; properties of steps do, and TLC asks
   them of every step. *)
EXTENDS Drift, KeyReplicatedRequests, Graph

\* An action constraint that writes the graph.
Edge == EdgeIsWritten(view, call', view')

(***************************************************************************)
(* Twins: each .cfg that must fail puts one of these in a rule's place,    *)
(* where it is not a protection that is missing.                           *)
(***************************************************************************)
\* For Told: P0 hears of a miss and goes on claiming what was missed (D13).
NothingInvalidated(entries, number, report) == [entries |-> entries, kind |-> "invalidated"]

\* For Taken: a miss names its first item only (D05).
FirstMissEnds(entries, number, message) ==
    LET taken == Ingest(entries, message.features)
    IN  IF taken.missing = <<>> THEN taken ELSE [taken EXCEPT !.missing = <<Head(taken.missing)>>]

\* For Merge: what is new is recorded and nothing is evicted.
MergedWithoutEviction(entries, request, cached) ==
    LET new == SelectSeq(PlacesOf(request), LAMBDA place : ~cached[place])
    IN  [entries |-> entries \o [number \in DOMAIN new |->
                        <<request[new[number]].key, request[new[number]].content>>],
         features |-> [place \in DOMAIN request |->
             [item |-> [request[place] EXCEPT !.supplied = TRUE], sent |-> ~cached[place],
              accounted |-> request[place].content]],
         kind |-> "mixed"]

\* For Submit: what the client left out is not looked for.
SubmitUnchecked(request) ==
    /\ IsFree
    /\ Send(sender, request, IsCached(sender, request), OfRequest("submit", request, None))
    /\ UNCHANGED <<receiver, reports, retries, numbers, peers>>

\* For Max: a number that grows with every message.
NextNumber(one, other) == 1 + (IF one > other THEN one ELSE other)
=============================================================================
