--------------------------- MODULE KeyReplicated ---------------------------
(* The key-replicated pair in its environment: what may happen to it, the rules that stop it, and the system of all
   actions. Each accident is off until `Accidents` names it. Where a protection stops one, the step changes nothing.

   Normative text: spec/05-drift.md. The same in Python, action by action and under the same names:
   mmcache_ref/model/accident_steps.py, peers.py.                                                           *)
EXTENDS Replication

(***************************************************************************)
(* The environment                                                         *)
(***************************************************************************)
\* [DR-13] A request that is not sent after its update; with "rollback" it has no update.
NotSent(request, op, usual) ==
    /\ checked = None
    /\ IF IsUnsupplied(sender, request)
       THEN UNCHANGED view /\ call' = OfRequest(op, request, "unsupplied")
       ELSE IF Keeps("rollback")
       THEN UNCHANGED view /\ call' = OfRequest(op, request, "rolled-back")
       ELSE LET merged == Merge(sender, request, IsCached(sender, request))
                kind == IF merged.kind \in {"claimed", "sent", "mixed"} THEN usual ELSE merged.kind
            IN  /\ sender' = merged.entries
                /\ call' = OfRequest(op, request, kind)
                /\ UNCHANGED <<receiver, traffic, checked, numbers, peers>>

\* [DR-13]
Reject(request) == Under("reject") /\ NotSent(request, "reject", "rejected")

\* [DR-13]
DryRun(request) == Under("dry-run") /\ NotSent(request, "dry-run", "discarded")

\* [DR-17] A request is put into the channel, with its data and without P0.
Bypass(request) ==
    /\ Under("bypass") /\ OpenRequests < Depth
    /\ LET features == [place \in DOMAIN request |->
               [item |-> [request[place] EXCEPT !.supplied = TRUE], sent |-> TRUE, accounted |-> request[place].content]]
       IN  channel' = Append(channel, [features |-> features, number |-> p0_number, recorded |-> FALSE])
    /\ call' = OfRequest("bypass", request, "bypassed")
    /\ UNCHANGED <<caches, reports, retries, checked, numbers, peers>>

TakenOut(place, isKept) ==
    /\ place \in DOMAIN channel
    /\ channel' = IF isKept THEN channel ELSE WithoutPlace(channel, place)
    /\ UNCHANGED <<caches, reports, retries, checked, numbers, peers>>

\* [DR-22] Taken out of the channel; with "ingest-aborted" only its answer is dropped.
Abort(place) ==
    /\ Under("abort") /\ TakenOut(place, Keeps("ingest-aborted"))
    /\ call' = AtPlace("abort", place, IF Keeps("ingest-aborted") THEN "still-ingested" ELSE "aborted")

\* [DR-24] Lost on its way; with "keep-data-until-sent" P0 sends it again, in its old place.
Drop(place) ==
    /\ Under("drop") /\ TakenOut(place, Keeps("keep-data-until-sent"))
    /\ call' = AtPlace("drop", place, IF Keeps("keep-data-until-sent") THEN "sent-again" ELSE "lost")

\* [DR-19] The retry comes without P0 having been told; with "report-always" it is told first.
LoseReport(place) ==
    /\ Under("lost-report") /\ place \in DOMAIN reports
    /\ IF Keeps("report-always")
       THEN Invalidate(place, "lose-report")
       ELSE /\ reports' = WithoutPlace(reports, place)
            /\ retries' = Append(retries, [request |-> reports[place].request, told |-> FALSE])
            /\ call' = AtPlace("lose-report", place, "lost")
            /\ UNCHANGED <<caches, channel, checked, numbers, peers>>

\* [DR-02] [DR-18] The first half of a submit.
Check(request) ==
    /\ Under("invalidate-race") /\ IsFree
    /\ checked' = IF IsUnsupplied(sender, request) THEN None
                  ELSE [request |-> request, cached |-> IsCached(sender, request)]
    /\ call' = OfRequest("check", request, IF IsUnsupplied(sender, request) THEN "unsupplied" ELSE "checked")
    /\ UNCHANGED <<caches, traffic, numbers, peers>>

\* [DR-18] The second half: the merge step of the checked request, and sending it.
Update ==
    /\ checked # None
    /\ Send(sender, checked.request, checked.cached, [op |-> "update", kind |-> None])
    /\ UNCHANGED <<receiver, reports, retries, numbers, peers>>

\* [DR-15] P0 alone.
ClearP0 ==
    /\ Under("clear-p0") /\ p0_number < Clears
    /\ IF IsDeferred
       THEN UNCHANGED view /\ call' = [op |-> "clear-p0", kind |-> "deferred"]
       ELSE /\ sender' = <<>> /\ p0_number' = p0_number + 1
            /\ call' = [op |-> "clear-p0", kind |-> "cleared"]
            /\ UNCHANGED <<receiver, traffic, checked, p1_number, clearing, peers>>

\* [DR-15] P1 alone.
ClearP1 ==
    /\ Under("clear-p1") /\ p1_number < Clears
    /\ receiver' = <<>> /\ p1_number' = p1_number + 1
    /\ call' = [op |-> "clear-p1", kind |-> "cleared"]
    /\ UNCHANGED <<sender, traffic, checked, p0_number, clearing, peers>>

\* [DR-15] P0 now, P1 when it hears of it.
ClearBoth ==
    /\ Under("clear-both") /\ p0_number < Clears /\ clearing = 0
    /\ IF IsDeferred
       THEN UNCHANGED view /\ call' = [op |-> "clear-both", kind |-> "deferred"]
       ELSE /\ sender' = <<>> /\ p0_number' = p0_number + 1 /\ clearing' = p0_number + 1
            /\ call' = [op |-> "clear-both", kind |-> "cleared"]
            /\ UNCHANGED <<receiver, traffic, checked, p1_number, peers>>

\* [DR-14] [DR-15] P1 hears of the clear: after everything that was sent before it ("ordered-delivery"), and not when
\* it has already seen it ("epoch").
FinishClear ==
    /\ clearing # 0
    /\ IF Keeps("ordered-delivery") /\ \E place \in DOMAIN channel : channel[place].number < clearing
       THEN UNCHANGED view /\ call' = [op |-> "finish-clear", kind |-> "held-back"]
       ELSE LET isIgnored == Keeps("epoch") /\ clearing <= p1_number
            IN  /\ receiver' = IF isIgnored THEN receiver ELSE <<>>
                /\ p1_number' = Max(p1_number, clearing)
                /\ clearing' = 0
                /\ call' = [op |-> "finish-clear", kind |-> IF isIgnored THEN "ignored" ELSE "cleared"]
                /\ UNCHANGED <<sender, traffic, checked, p0_number, peers>>

\* [DR-15] P1 is new and takes a number that neither side ever had; what was in the channel is gone.
RestartP1 ==
    /\ Under("restart-p1") /\ Max(p0_number, p1_number) < Clears
    /\ receiver' = <<>> /\ channel' = <<>> /\ clearing' = 0 /\ p1_number' = Max(p0_number, p1_number) + 1
    /\ call' = [op |-> "restart-p1", kind |-> "restarted"]
    /\ UNCHANGED <<sender, reports, retries, checked, p0_number, peers>>

\* [DR-02] [DR-21] A request outside the pair is served from its own data, or refused.
Unshared(op, request) ==
    /\ UNCHANGED view
    /\ call' = OfRequest(op, request, IF IsUnsupplied(<<>>, request) THEN "unsupplied" ELSE "unshared")

\* [DR-21] Another P0 handles a request of its own, from its check to P1's answer and the report of a miss; with
\* "paired" it sends all data and P1 keeps none of it.
SecondFrontEnd(request) ==
    /\ Under("second-front-end")
    /\ IF Keeps("paired") THEN Unshared("second-front-end", request)
       ELSE IF IsUnsupplied(second_sender, request)
       THEN UNCHANGED view /\ call' = OfRequest("second-front-end", request, "unsupplied")
       ELSE LET merged == Merge(second_sender, request, IsCached(second_sender, request))
                taken == Ingest(receiver, merged.features)
                isSent == merged.features # None
            IN  /\ second_sender' = IF isSent THEN WithoutAll(merged.entries, taken.missing) ELSE merged.entries
                /\ receiver' = IF isSent THEN taken.entries ELSE receiver
                /\ call' = OfRequest("second-front-end", request, IF isSent THEN taken.kind ELSE merged.kind)
                /\ UNCHANGED <<sender, traffic, checked, numbers, second_receiver>>

\* [DR-21] P0's request to another P1, which ingests it at once; with "paired" it leaves P0's cache alone.
SecondEngine(request) ==
    /\ Under("second-engine") /\ IsFree
    /\ IF Keeps("paired") THEN Unshared("second-engine", request)
       ELSE IF IsUnsupplied(sender, request)
       THEN UNCHANGED view /\ call' = OfRequest("second-engine", request, "unsupplied")
       ELSE LET merged == Merge(sender, request, IsCached(sender, request))
                taken == Ingest(second_receiver, merged.features)
                isSent == merged.features # None
                report == [request |-> request, missing |-> taken.missing, number |-> p0_number,
                           sent_under |-> p0_number]
            IN  /\ sender' = merged.entries
                /\ second_receiver' = IF isSent THEN taken.entries ELSE second_receiver
                /\ reports' = IF isSent /\ taken.missing # <<>> THEN Append(reports, report) ELSE reports
                /\ call' = OfRequest("second-engine", request, IF isSent THEN taken.kind ELSE merged.kind)
                /\ UNCHANGED <<receiver, channel, retries, checked, numbers, second_sender>>

(***************************************************************************)
(* The system                                                              *)
(***************************************************************************)
Places == 1..Depth

Next ==
    \/ \E request \in Requests : Submit(request)
    \/ \E place \in Places : Deliver(place)
    \/ \E place \in Places : HandleReport(place)
    \/ \E place \in Places : Retry(place)
    \/ \E request \in Requests : Reject(request)
    \/ \E request \in Requests : DryRun(request)
    \/ \E request \in Requests : Bypass(request)
    \/ \E place \in Places : Abort(place)
    \/ \E place \in Places : Drop(place)
    \/ \E place \in Places : LoseReport(place)
    \/ \E request \in Requests : Check(request)
    \/ Update
    \/ ClearP0
    \/ ClearP1
    \/ ClearBoth
    \/ FinishClear
    \/ RestartP1
    \/ \E request \in Requests : SecondFrontEnd(request)
    \/ \E request \in Requests : SecondEngine(request)

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Fairness: what the protocol may assume of its environment               *)
(***************************************************************************)
\* [DR-27] What was sent arrives, clears included, unless it is lost.
ChannelDelivers == WF_view(Deliver(1)) /\ WF_view(FinishClear)

\* [DR-28] P0 goes on: with the request that it checked, with the oldest report unless it is lost, with the oldest retry.
\* The last two have to wait for a request between its check and its update, again and again.
MissesAreFollowed == WF_view(Update) /\ SF_view(HandleReport(1) \/ LoseReport(1)) /\ SF_view(Retry(1))

\* [DR-29] Clients ask for every item again and again, as often as P0 is free.
ClientsAskAgain ==
    \A key \in {request[1].key : request \in Requests} :
        SF_view(\E request \in Requests : request[1].key = key /\ Submit(request))
=============================================================================
