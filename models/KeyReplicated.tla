--------------------------- MODULE KeyReplicated ---------------------------
(* The key-replicated pair: P0, the channel, P1, misses and retries, what the environment may do to them, and
   the rules that stop it. An action is one call of the API or one step of the environment; P0 handles a
   request in one piece, on one thread, unless the accident "invalidate-race" splits it.

   Normative text: spec/04-key-replicated.md, spec/05-drift.md. The same in Python, action by action and under the
   same names: mmcache_ref/model/key_replicated.py, accident_steps.py, peers.py.                           *)
EXTENDS Integers, Sequences, FiniteSets

(***************************************************************************)
(* Constants                                                               *)
(***************************************************************************)
CONSTANTS
    Budget,       \* bytes that either side may hold
    Asked,        \* the requests that clients make, as a sequence: where a key comes first, its content is its own
    Depth,        \* how many requests are under way at once
    Clears,       \* the highest number that a clear may take
    Accidents,    \* what the environment may do, by name
    Protections,  \* the rules that the protocol keeps beyond the plain one, by name
    None          \* no value

AllAccidents ==
    {"abort", "bypass", "clear-both", "clear-p0", "clear-p1", "drop", "dry-run", "invalidate-race", "lost-report",
     "mixed-modality", "new-content", "oversize", "reject", "reorder", "restart-p1", "second-engine",
     "second-front-end"}

DefaultProtections ==
    {"epoch", "ingest-aborted", "keep-data-until-sent", "keep-touched", "one-order", "ordered-delivery", "paired",
     "recorded-only", "report-always", "resend-all", "rollback", "serialised-invalidation"}

ASSUME /\ Accidents \subseteq AllAccidents
       /\ Protections \subseteq DefaultProtections \cup {"content-identity"}
       /\ {Budget, Depth, Clears} \subseteq Nat

INSTANCE Pair WITH
    KeepTouched <- "keep-touched" \in Protections,
    Grouped <- "mixed-modality" \in Accidents /\ "one-order" \notin Protections

\* The accidents without which no such request is made.
Needs(request) ==
    LET keys == {request[place].key : place \in DOMAIN request}
        LastOf(key) == CHOOSE place \in DOMAIN request :
                           /\ request[place].key = key
                           /\ \A later \in DOMAIN request : request[later].key = key => later <= place
        distinct == SelectSeq(PlacesOf(request), LAMBDA place : LastOf(request[place].key) = place)
        weight == SizeOf([number \in DOMAIN distinct |-> <<"", request[distinct[number]].content>>])
        FirstNamed(key) ==
            LET first == CHOOSE number \in DOMAIN Asked :
                    /\ \E place \in DOMAIN Asked[number] : Asked[number][place].key = key
                    /\ \A early \in 1..(number - 1) :
                           \A place \in DOMAIN Asked[early] : Asked[early][place].key # key
                place == CHOOSE here \in DOMAIN Asked[first] :
                    /\ Asked[first][here].key = key
                    /\ \A early \in 1..(here - 1) : Asked[first][early].key # key
            IN  Asked[first][place].content
    IN  (IF weight > Budget THEN {"oversize"} ELSE {})
        \cup (IF Cardinality({request[place].modality : place \in DOMAIN request}) > 1
              THEN {"mixed-modality"} ELSE {})
        \cup (IF \E place \in DOMAIN request : request[place].content # FirstNamed(request[place].key)
              THEN {"new-content"} ELSE {})

Requests ==
    {Asked[number] : number \in
        {each \in DOMAIN Asked : Needs(Asked[each]) \subseteq
            (IF "content-identity" \in Protections THEN Accidents \ {"new-content"} ELSE Accidents)}}

(***************************************************************************)
(* Variables                                                               *)
(*                                                                         *)
(* TLA+             Python model           event log      reference        *)
(* sender           State.sender           holds of p0    FrontEnd.sender  *)
(* receiver         State.receiver         holds of p1    Engine.receiver  *)
(* channel          State.channel          made, message  Channel._messages            *)
(* reports          State.reports          -              Deployment.reports           *)
(* retries          State.retries          -              Deployment.retries           *)
(* checked          State.checked          did "check"    FrontEnd.checked             *)
(* p0_number        State.p0_number        -              FrontEnd.number              *)
(* p1_number        State.p1_number        -              Engine.number                *)
(* clearing         State.clearing         -              Channel.clearing             *)
(* second_sender    State.second_sender    -              Deployment._second_front_end *)
(* second_receiver  State.second_receiver  -              Deployment._second_engine    *)
(* call             Operation, Outcome     did, saw       the call itself              *)
(***************************************************************************)
VARIABLES
    sender,           \* P0's entries, <<key, content>>, least recent first; the content stands for its size
    receiver,         \* P1's entries
    channel,          \* messages on their way to P1, oldest first: [features, number, recorded]
    reports,          \* misses on their way to P0: [request, missing, number, sent_under]
    retries,          \* requests that clients will send again: [request, told]
    checked,          \* the request between its check and its update, [request, cached], or None
    p0_number,        \* the number of the last clear that P0 knows of
    p1_number,        \* the number of the last clear that P1 knows of
    clearing,         \* the number of the clear that P1 has yet to hear of, or 0
    second_sender,    \* the entries of another P0
    second_receiver,  \* the entries of another P1
    call              \* the step that was just taken: [op, its arguments, kind]; no action reads it

caches == <<sender, receiver>>
traffic == <<channel, reports, retries>>
numbers == <<p0_number, p1_number, clearing>>
peers == <<second_sender, second_receiver>>
view == <<sender, receiver, channel, reports, retries, checked, p0_number, p1_number, clearing, second_sender,
          second_receiver>>
vars == <<view, call>>

TypeOK ==
    /\ \A place \in DOMAIN channel :
        /\ DOMAIN channel[place] = {"features", "number", "recorded"}
        /\ channel[place].number \in 0..Clears /\ channel[place].recorded \in BOOLEAN
        /\ \A each \in DOMAIN channel[place].features :
            /\ DOMAIN channel[place].features[each] = {"item", "sent", "accounted"}
            /\ channel[place].features[each].sent \in BOOLEAN
    /\ \A place \in DOMAIN reports :
        /\ DOMAIN reports[place] = {"request", "missing", "number", "sent_under"}
        /\ reports[place].missing # <<>>
        /\ {reports[place].number, reports[place].sent_under} \subseteq 0..Clears
    /\ \A place \in DOMAIN retries :
        DOMAIN retries[place] = {"request", "told"} /\ retries[place].told \in BOOLEAN
    /\ checked = None \/ DOMAIN checked = {"request", "cached"}
    /\ {p0_number, p1_number, clearing} \subseteq 0..Clears

Init ==
    /\ sender = <<>> /\ receiver = <<>>
    /\ channel = <<>> /\ reports = <<>> /\ retries = <<>>
    /\ checked = None
    /\ p0_number = 0 /\ p1_number = 0 /\ clearing = 0
    /\ second_sender = <<>> /\ second_receiver = <<>>
    /\ call = [op |-> "initial"]

(***************************************************************************)
(* What actions are made of                                                *)
(***************************************************************************)
Under(accident) == accident \in Accidents
Keeps(protection) == protection \in Protections

WithoutPlace(sequence, place) ==
    SubSeq(sequence, 1, place - 1) \o SubSeq(sequence, place + 1, Len(sequence))

Max(one, other) == IF one > other THEN one ELSE other

\* How `call` tells what was done with a request, or at a place (which Python counts from 0).
OfRequest(op, request, kind) == [op |-> op, request |-> request, kind |-> kind]
AtPlace(op, place, kind) == [op |-> op, position |-> place - 1, kind |-> kind]

OpenRequests == Len(channel) + Len(reports) + Len(retries) + (IF checked = None THEN 0 ELSE 1)

IsFree == checked = None /\ OpenRequests < Depth

\* [DR-02] The client left something out that the cache does not have: refused before anything changes.
IsUnsupplied(entries, request) ==
    \E place \in DOMAIN request : ~request[place].supplied /\ request[place].key \notin KeysOf(entries)

RequestOf(message) == [place \in DOMAIN message.features |-> message.features[place].item]

RECURSIVE WithoutAll(_, _)
WithoutAll(entries, keys) ==
    IF keys = <<>> THEN entries ELSE WithoutAll(Without(entries, Head(keys)), Tail(keys))

\* [DR-09] [DR-23] What P0 holds as a retry begins: with "resend-all" it forgets every hash of the request.
BeforeRetry(entries, request) ==
    IF Keeps("resend-all")
    THEN WithoutAll(entries, [place \in DOMAIN request |-> request[place].key])
    ELSE entries

\* [DR-05] [DR-15] What P0, whose last clear has this number, makes of the report of a miss. With "epoch" a newer
\* number clears P0, and a miss of a message from before P0's last clear invalidates nothing.
Told(entries, number, report) ==
    IF Keeps("epoch") /\ report.number > number THEN [entries |-> <<>>, kind |-> "cleared"]
    ELSE IF Keeps("epoch") /\ report.sent_under < number THEN [entries |-> entries, kind |-> "outdated"]
    ELSE [entries |-> WithoutAll(entries, report.missing), kind |-> "invalidated"]

\* [DR-15] [DR-17] What P1, whose last clear has this number, makes of a message. With "epoch" a newer number clears
\* it first, and an older message only has its data served.
Taken(entries, number, message) ==
    LET isCleared == Keeps("epoch") /\ message.number > number
        held == IF isCleared THEN <<>> ELSE entries
        ingested == Ingest(held, message.features)
        Uncached(kind) == [entries |-> held, served |-> ServedUncached(message.features).served,
                           missing |-> ServedUncached(message.features).missing, kind |-> kind]
        taken == IF Keeps("epoch") /\ message.number < number THEN Uncached("set-aside")
                 ELSE IF Keeps("recorded-only") /\ ~message.recorded THEN Uncached("unrecorded")
                 ELSE ingested
    IN  IF isCleared THEN [taken EXCEPT !.kind = "cleared-first"] ELSE taken

(***************************************************************************)
(* P0                                                                      *)
(***************************************************************************)
\* [DR-01] [DR-03] The merge step and sending. After an assertion nothing is sent.
Send(entries, request, cached, did) ==
    LET merged == Merge(entries, request, cached)
    IN  /\ sender' = merged.entries
        /\ channel' = IF merged.features = None THEN channel
                      ELSE Append(channel, [features |-> merged.features, number |-> p0_number, recorded |-> TRUE])
        /\ checked' = None
        /\ call' = [did EXCEPT !.kind = merged.kind]

\* [DR-01] [DR-02] One request from its check to the channel.
Submit(request) ==
    /\ IsFree
    /\ IF IsUnsupplied(sender, request)
       THEN UNCHANGED view /\ call' = OfRequest("submit", request, "unsupplied")
       ELSE /\ Send(sender, request, IsCached(sender, request), OfRequest("submit", request, None))
            /\ UNCHANGED <<receiver, reports, retries, numbers, peers>>

\* [DR-09] [DR-23] A request once more, with all its data.
Retry(place) ==
    /\ checked = None /\ place \in DOMAIN retries
    /\ LET request == retries[place].request
           entries == BeforeRetry(sender, request)
       IN  Send(entries, request, IsCached(entries, request), AtPlace("retry", place, None))
    /\ retries' = WithoutPlace(retries, place)
    /\ UNCHANGED <<receiver, reports, numbers, peers>>

\* [DR-18] It has to wait for the request that was checked.
IsDeferred == Keeps("serialised-invalidation") /\ checked # None

\* [DR-05] [DR-15] [DR-18] P0 hears of a miss; the client will retry.
Invalidate(place, op) ==
    LET report == reports[place]
        told == Told(sender, p0_number, report)
    IN  IF IsDeferred
        THEN UNCHANGED view /\ call' = AtPlace(op, place, "deferred")
        ELSE /\ sender' = told.entries
             /\ reports' = WithoutPlace(reports, place)
             /\ retries' = Append(retries, [request |-> report.request, told |-> TRUE])
             /\ p0_number' = Max(p0_number, report.number)
             /\ call' = AtPlace(op, place, told.kind)
             /\ UNCHANGED <<receiver, channel, checked, p1_number, clearing, peers>>

HandleReport(place) ==
    /\ place \in DOMAIN reports
    /\ Invalidate(place, "handle-report")

(***************************************************************************)
(* P1                                                                      *)
(***************************************************************************)
\* [DR-14] [DR-15] Whether a message has to wait: for what was sent before it, or for a clear that was.
Waits(place) ==
    IF ~Keeps("ordered-delivery") THEN "no"
    ELSE IF place > 1 THEN "held-back"
    ELSE IF clearing # 0 /\ channel[place].number >= clearing THEN "awaits-clear" ELSE "no"

Delivered(place, kind, served, missing) ==
    [op |-> "deliver", position |-> place - 1, kind |-> kind, served |-> served, missing |-> missing]

\* [DR-04] [DR-05] P1 ingests a message, and answers it or reports a miss.
Deliver(place) ==
    /\ place \in DOMAIN channel
    /\ place > 1 => Under("reorder")
    /\ IF Waits(place) # "no"
       THEN UNCHANGED view /\ call' = Delivered(place, Waits(place), <<>>, <<>>)
       ELSE LET message == channel[place]
                taken == Taken(receiver, p1_number, message)
                isMissed == taken.missing # <<>>
                number == Max(p1_number, message.number)
                report == [request |-> RequestOf(message), missing |-> taken.missing, number |-> number,
                           sent_under |-> message.number]
            IN  /\ receiver' = taken.entries
                /\ channel' = WithoutPlace(channel, place)
                /\ reports' = IF isMissed THEN Append(reports, report) ELSE reports
                /\ p1_number' = number
                /\ call' = Delivered(place, taken.kind, IF isMissed THEN <<>> ELSE taken.served, taken.missing)
                /\ UNCHANGED <<sender, retries, checked, p0_number, clearing, peers>>

(***************************************************************************)
(* The environment                                                         *)
(***************************************************************************)
\* [DR-13] A request that is not sent after its update; with "rollback" it has no update.
NotSent(request, op, usual) ==
    LET merged == Merge(sender, request, IsCached(sender, request))
        kind == IF merged.kind \in {"claimed", "sent", "mixed"} THEN usual ELSE merged.kind
    IN  /\ checked = None
        /\ IF IsUnsupplied(sender, request)
           THEN UNCHANGED view /\ call' = OfRequest(op, request, "unsupplied")
           ELSE IF Keeps("rollback")
           THEN UNCHANGED view /\ call' = OfRequest(op, request, "rolled-back")
           ELSE /\ sender' = merged.entries
                /\ call' = OfRequest(op, request, kind)
                /\ UNCHANGED <<receiver, traffic, checked, numbers, peers>>

Reject(request) == Under("reject") /\ NotSent(request, "reject", "rejected")

DryRun(request) == Under("dry-run") /\ NotSent(request, "dry-run", "discarded")

\* [DR-17] A request is put into the channel, with its data and without P0.
Bypass(request) ==
    LET features == [place \in DOMAIN request |->
            [item |-> [request[place] EXCEPT !.supplied = TRUE], sent |-> TRUE, accounted |-> request[place].content]]
    IN  /\ Under("bypass") /\ OpenRequests < Depth
        /\ channel' = Append(channel, [features |-> features, number |-> p0_number, recorded |-> FALSE])
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
    LET isIgnored == Keeps("epoch") /\ clearing <= p1_number
    IN  /\ clearing # 0
        /\ IF Keeps("ordered-delivery") /\ \E place \in DOMAIN channel : channel[place].number < clearing
           THEN UNCHANGED view /\ call' = [op |-> "finish-clear", kind |-> "held-back"]
           ELSE /\ receiver' = IF isIgnored THEN receiver ELSE <<>>
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
    LET merged == Merge(second_sender, request, IsCached(second_sender, request))
        taken == Ingest(receiver, merged.features)
    IN  /\ Under("second-front-end")
        /\ IF Keeps("paired") THEN Unshared("second-front-end", request)
           ELSE IF IsUnsupplied(second_sender, request)
           THEN UNCHANGED view /\ call' = OfRequest("second-front-end", request, "unsupplied")
           ELSE IF merged.features = None
           THEN /\ second_sender' = merged.entries
                /\ call' = OfRequest("second-front-end", request, merged.kind)
                /\ UNCHANGED <<caches, traffic, checked, numbers, second_receiver>>
           ELSE /\ second_sender' = WithoutAll(merged.entries, taken.missing)
                /\ receiver' = taken.entries
                /\ call' = OfRequest("second-front-end", request, taken.kind)
                /\ UNCHANGED <<sender, traffic, checked, numbers, second_receiver>>

\* [DR-21] P0's request to another P1, which ingests it at once; with "paired" it leaves P0's cache alone.
SecondEngine(request) ==
    LET merged == Merge(sender, request, IsCached(sender, request))
        taken == Ingest(second_receiver, merged.features)
        report == [request |-> request, missing |-> taken.missing, number |-> p0_number, sent_under |-> p0_number]
    IN  /\ Under("second-engine") /\ IsFree
        /\ IF Keeps("paired") THEN Unshared("second-engine", request)
           ELSE IF IsUnsupplied(sender, request)
           THEN UNCHANGED view /\ call' = OfRequest("second-engine", request, "unsupplied")
           ELSE IF merged.features = None
           THEN /\ sender' = merged.entries
                /\ call' = OfRequest("second-engine", request, merged.kind)
                /\ UNCHANGED <<receiver, traffic, checked, numbers, peers>>
           ELSE /\ sender' = merged.entries
                /\ second_receiver' = taken.entries
                /\ reports' = IF taken.missing = <<>> THEN reports ELSE Append(reports, report)
                /\ call' = OfRequest("second-engine", request, taken.kind)
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
=============================================================================
