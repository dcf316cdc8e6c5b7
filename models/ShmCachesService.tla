-------------------------- MODULE ShmCachesService --------------------------
(* ShmCaches is a CacheService: the refinement mapping. Three history variables say what the state of the protocol does
   not keep: how often a request was tried and what the workers read of it, what was answered, whether a worker died.
   What was stripped from a message the prefix cache has: it counts as read.                                *)
EXTENDS ShmProperties

(***************************************************************************)
(* Variables                                                               *)
(***************************************************************************)
VARIABLES
    records,      \* for each request in `channel`, `running`, `retries`: [tries, got, missing], this try included
    answer,       \* what the last step answered to a user, or None
    hasForgotten  \* did a worker ever die?

history == <<records, answer, hasForgotten>>

(***************************************************************************)
(* History                                                                 *)
(***************************************************************************)
\* Nothing was read yet of this try. `got`: the contents of its items, once for each time they were read otherwise.
Tried(number) == [tries |-> number, got |-> {}, missing |-> {}]

ServiceInit ==
    /\ Init
    /\ records = [channel |-> <<>>, running |-> <<>>, retries |-> <<>>]
    /\ answer = None
    /\ hasForgotten = FALSE

\* What a worker gets that reads these features.
ContentsOf(features) ==
    LET ContentOf(feature) ==
            IF feature.handle = None THEN feature.item.content
            ELSE store.entries[CHOOSE place \in Holder(store, feature.handle) : TRUE].content
    IN  [place \in DOMAIN features |-> ContentOf(features[place])]

\* What is known of a request after its features were read, in the state before the step.
AfterReading(record, features) ==
    LET gone == {place \in DOMAIN features : IsGone(features[place])}
    IN  IF gone = {} THEN [record EXCEPT !.got = @ \cup {ContentsOf(features)}]
        ELSE [record EXCEPT !.missing = @ \cup {features[place].item.key : place \in gone}]

\* Of the request that the step reads, after it.
RecordRead ==
    LET record == IF Did("read") THEN records.channel[Place] ELSE records.running[Place]
        isRelease == Did("read") /\ channel[Place].is_release
    IN  IF isRelease \/ call'.kind \in {"kept", "died"} THEN record ELSE AfterReading(record, Subject.features)

IsRetried == Len(retries') > Len(retries)

\* The records after the step that `call'` tells of. Nobody asks about those of releases.
RecordsAfter ==
    LET isGone == Len(channel') < Len(channel)
        isSent == Len(channel') > Len(channel)
        retried == IF IsRetried THEN Append(records.retries, Tried(RecordRead.tries + 1)) ELSE records.retries
    IN  CASE Did("read") ->
                [channel |-> IF isGone THEN WithoutPlace(records.channel, Place)
                             ELSE [records.channel EXCEPT ![Place] = RecordRead],
                 running |-> IF Len(running') > Len(running) THEN Append(records.running, RecordRead)
                             ELSE records.running,
                 retries |-> retried]
          [] Did("resume") ->
                [records EXCEPT !.running = IF IsRetried THEN WithoutPlace(@, Place) ELSE [@ EXCEPT ![Place] = RecordRead],
                                !.retries = retried]
          [] Did("finish") -> [records EXCEPT !.running = WithoutPlace(@, Place)]
          [] Did("retry") ->
                [records EXCEPT !.channel = Append(@, records.retries[Place]), !.retries = WithoutPlace(@, Place)]
          [] Did("abort") ->
                [records EXCEPT !.channel = IF isGone THEN WithoutPlace(@, Place) ELSE [@ EXCEPT ![Place] = Tried(1)]]
          [] Did("worker-death") ->
                [channel |-> [place \in DOMAIN channel' |-> Tried(1)], running |-> <<>>,
                 retries |-> records.retries \o [number \in 1..(Len(retries') - Len(retries)) |-> Tried(2)]]
          [] (IsRequest \/ Did("replay")) /\ isSent -> [records EXCEPT !.channel = Append(@, Tried(1))]
          [] OTHER -> records

\* The request as the service knows it: what the client supplied is no part of its identity.
AllSupplied(request) == [place \in DOMAIN request |-> [request[place] EXCEPT !.supplied = TRUE]]

\* What every worker got, if they all got the same.
Served(record) == IF Cardinality(record.got) = 1 THEN CHOOSE items \in record.got : TRUE ELSE None

\* What a user was answered in the step that `call'` tells of.
AnswerOf ==
    CASE is_dead' /\ ~is_dead -> [kind |-> "died"]
      [] Did("worker-death") -> [kind |-> "forgotten"]
      [] Did("finish") ->
            [kind |-> "served", request |-> RequestOf(running[Place].features), items |-> Served(records.running[Place])]
      [] IsReading /\ IsRetried ->
            [kind |-> "missed", request |-> RequestOf(Subject.features), missing |-> RecordRead.missing]
      [] Did("abort") -> [kind |-> "withdrawn", request |-> RequestOf(channel[Place].features)]
      [] IsRequest /\ call'.kind = "asserted" -> [kind |-> "failed"]
      [] IsRequest /\ (call'.kind = "unsupplied" \/ Did("reject")) ->
            [kind |-> "refused", request |-> AllSupplied(call'.request)]
      [] OTHER -> None

ServiceNext ==
    /\ Next
    /\ records' = RecordsAfter
    /\ answer' = AnswerOf
    /\ hasForgotten' = (hasForgotten \/ Did("worker-death"))

ServiceSpec == ServiceInit /\ [][ServiceNext]_<<vars, history>>

(***************************************************************************)
(* The view                                                                *)
(***************************************************************************)
\* As that of ShmCaches, with what is known of each request beside it.
serviceView ==
    LET Messages(order) ==
            [place \in DOMAIN channel |-> <<SeenMessage(channel[place], order), records.channel[place]>>]
    IN  IF is_dead THEN <<"dead">>
        ELSE SeenStore \o
             <<{Bag(Messages(order)) : order \in Exchanges},
               Bag([place \in DOMAIN running |-> <<SeenRunning(running[place]), records.running[place]>>]),
               Bag([place \in DOMAIN retries |-> <<retries[place], records.retries[place]>>]),
               hasForgotten>>

(***************************************************************************)
(* The mapping                                                             *)
(***************************************************************************)
\* A release is no request any more; a dead engine has none.
UnderWay ==
    LET Try(request, record) == [request |-> request, tries |-> record.tries]
        asked == SelectSeq([place \in DOMAIN channel |-> place], LAMBDA place : ~channel[place].is_release)
    IN  IF is_dead THEN <<>>
        ELSE [each \in DOMAIN asked |-> Try(RequestOf(channel[asked[each]].features), records.channel[asked[each]])]
             \o [place \in DOMAIN running |-> Try(RequestOf(running[place].features), records.running[place])]
             \o [place \in DOMAIN retries |-> Try(retries[place].request, records.retries[place])]

\* A client may ask by a handle for what it has asked for before.
ServiceRequests ==
    LET asked == {AllSupplied(request) : request \in Requests}
    IN  asked \cup {<<item>> : item \in UNION {{request[place] : place \in DOMAIN request} : request \in asked}}

Service == INSTANCE CacheService WITH
    Requests <- ServiceRequests,
    Budget <- Capacity,
    open <- [each \in {UnderWay[place] : place \in DOMAIN UnderWay} |->
                Cardinality({place \in DOMAIN UnderWay : UnderWay[place] = each})],
    used <- <<Sum([place \in DOMAIN store.ring.chunks |-> store.ring.chunks[place].size])>>

\* [SC-26] [SC-31] [SC-32] [SC-38] [SC-42] [SC-44] [SC-45] Users see a CacheService.
IsService == Service!Spec
=============================================================================
