---------------------------- MODULE Replication ----------------------------
(* The key-replicated pair: its state, and what P0 and P1 do. An action is one call of the API; P0 handles a request in
   one piece, on one thread, unless the environment splits it. KeyReplicated adds what the environment may do.

   Normative text: spec/04-key-replicated.md, spec/05-drift.md. The same in Python, action by action and under the
   same names: mmcache_ref/model/key_replicated.py.                                                         *)
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

\* [DR-05] [DR-15] [DR-18]
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

=============================================================================
