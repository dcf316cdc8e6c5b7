---------------------------- MODULE ShmProtocol ----------------------------
(* The caches in shared memory inside their protocol: its state, a sender in P0, and workers that read each message. One
   action is one step of P0 or of a worker; P0 handles a request in one piece. Sizes are in units. ShmCaches adds what
   the environment may do.

   Normative text: spec/08-shm-caches.md. The same in Python, action by action and under the same names:
   mmcache_ref/model/shm_caches.py, shm_sending.py, shm_reading.py.                                         *)
EXTENDS Integers, Sequences, FiniteSets

(***************************************************************************)
(* Constants                                                               *)
(***************************************************************************)
CONSTANTS
    Capacity,     \* units of the ring
    Limit,        \* units of the largest item that is stored
    Workers,      \* how many read each message
    Asked,        \* the requests that clients make: sequences of items [key, content, supplied]
    Depth,        \* how many requests are under way at once
    Accidents,    \* what the environment may do, by name
    Protections,  \* the rules that the protocol keeps beyond the plain one, by name
    ForgedKey,    \* the key that forged handles name: one is enough, since no forgery changes anything
    None          \* no value

AllAccidents ==
    {"abort", "clear-in-flight", "fan-out", "forge", "oversize", "reject", "replay", "resume", "strip",
     "worker-death"}

DefaultProtections ==
    {"clear-on-death", "drained-clear", "handle-until-done", "keep-handles", "one-acknowledgement",
     "recoverable-miss", "release-on-abort", "validated-handle"}

ASSUME /\ Accidents \subseteq AllAccidents
       /\ Protections \subseteq DefaultProtections
       /\ {Capacity, Limit, Workers, Depth} \subseteq Nat \ {0}

INSTANCE ShmStore

Under(accident) == accident \in Accidents
Keeps(protection) == protection \in Protections

\* [SC-37] An item that is never stored is asked for only with "oversize".
Requests ==
    {request \in Asked : Under("oversize") \/ \A place \in DOMAIN request : ~IsTooLarge(request[place].content.nbytes)}

Keys == UNION {{request[place].key : place \in DOMAIN request} : request \in Requests}

(***************************************************************************)
(* Variables                                                               *)
(*                                                                         *)
(* TLA+      Python model      event log        reference                  *)
(* store     State.store       holds of p0      SharedFrontEnd.sender      *)
(* channel   State.channel     made, message    SharedDeployment.channel   *)
(* running   State.running     -                SharedDeployment.running   *)
(* retries   State.retries     -                SharedDeployment.retries   *)
(* outdated  State.outdated    -                -                          *)
(* is_dead   State.is_dead     -                SharedDeployment.is_dead   *)
(* call      Operation, Outcome  did, saw       the call itself            *)
(***************************************************************************)
VARIABLES
    store,     \* [ring, entries]: what is in the segment, and what P0 knows of it
    channel,   \* messages: [features, children, left, has_read, is_release, has_missed]; the last two by worker
    running,   \* requests that every worker has read: [features, children, has_resumed]
    retries,   \* requests that clients will send again: [request, children]
    outdated,  \* keys of which a handle was handed out that is not current any more
    is_dead,   \* did a worker meet a handle whose chunk is gone, and the engine die of it?
    call       \* the step that was just taken: [op, its arguments, kind]; no action reads it

traffic == <<channel, running, retries>>
state == <<store, channel, running, retries, outdated, is_dead>>
vars == <<state, call>>

Init ==
    /\ store = EmptyStore(0)
    /\ channel = <<>> /\ running = <<>> /\ retries = <<>>
    /\ outdated = {}
    /\ is_dead = FALSE
    /\ call = [op |-> "initial"]

(***************************************************************************)
(* What actions are made of                                                *)
(***************************************************************************)
WithoutPlace(sequence, place) ==
    SubSeq(sequence, 1, place - 1) \o SubSeq(sequence, place + 1, Len(sequence))

WorkerNumbers == 1..Workers

Feature(item, handle) == [item |-> item, handle |-> handle, is_stripped |-> FALSE, is_referenced |-> TRUE]
Item(key, content) == [key |-> key, content |-> content, supplied |-> TRUE]

RequestOf(features) == [place \in DOMAIN features |-> features[place].item]

HandlesOf(features) ==
    LET carrying == SelectSeq(features, LAMBDA feature : feature.handle # None)
    IN  [place \in DOMAIN carrying |-> carrying[place].handle]

\* [SC-29] [SC-38] A message that nobody has read; a release is read once, whatever the children.
Message(features, children, isRelease) ==
    [features |-> features, children |-> children,
     left |-> [worker \in WorkerNumbers |-> IF isRelease THEN 1 ELSE children],
     has_read |-> [worker \in WorkerNumbers |-> FALSE], is_release |-> isRelease, has_missed |-> FALSE]

OpenRequests == Len(channel) + Len(running) + Len(retries)

MayBegin(children) == ~is_dead /\ OpenRequests < Depth /\ (children > 1 => Under("fan-out"))

\* [SC-26] The client left something out that is not stored.
IsUnsupplied(request) ==
    \E place \in DOMAIN request : ~request[place].supplied /\ request[place].key \notin Stored(store)

\* [SC-02] [SC-03] [SC-04] [SC-05] [SC-08] [SC-09] [SC-25] [SC-28] The updates of a request, one item after the other,
\* up to an assertion. A key that was stored at the check is touched until it is looked up.
RECURSIVE Updated(_, _, _, _, _, _)
Updated(held, cached, touched, features, kinds, items) ==
    IF items = <<>> THEN [store |-> held, features |-> features, kinds |-> kinds]
    ELSE LET item == Head(items)
             hit == PlaceOf(held, item.key)
             put == Put(held, touched, item.key, item.content)
             handle == IF put.kind = "put" THEN HandleAt(put.store, Len(put.store.entries)) ELSE None
         IN  IF item.key \in Stored(held)
             THEN Updated(LookedUp(held, hit), cached, touched \ {item.key},
                          Append(features, Feature(Item(item.key, held.entries[hit].content), HandleAt(held, hit))),
                          kinds \cup {"hit"}, Tail(items))
             ELSE IF item.key \in cached
             THEN [store |-> held, features |-> features, kinds |-> kinds \cup {"asserted"}]
             ELSE Updated(put.store, cached, touched, Append(features, Feature(Item(item.key, item.content), handle)),
                          kinds \cup {put.kind}, Tail(items))

UpdateOf(request) ==
    LET cached == {request[place].key : place \in DOMAIN request} \cap Stored(store)
    IN  Updated(store, cached, cached, <<>>, {}, request)

\* What happened, by the rarest of its kinds.
Kind(kinds) ==
    Head(SelectSeq(<<"asserted", "too-large", "no-room", "rejected", "released", "put", "hit">>,
                   LAMBDA kind : kind \in kinds))

\* The store becomes another; keys whose handles are no longer current are noted.
StoreBecomes(after) ==
    LET ids == {after.ring.chunks[place].id : place \in DOMAIN after.ring.chunks}
    IN  /\ store' = after
        /\ outdated' = outdated \cup {store.entries[place].key : place \in
                {each \in DOMAIN store.entries : store.ring.chunks[each].id \notin ids}}

OfRequest(op, request, children, kind) == [op |-> op, request |-> request, children |-> children, kind |-> kind]
AtPlace(op, place, kind) == [op |-> op, position |-> place - 1, kind |-> kind]

(***************************************************************************)
(* P0                                                                      *)
(***************************************************************************)
\* [SC-25] [SC-38] What P0 does with the updates of a request: send it; or, after an assertion or a refusal, nothing but a
\* release of what was handed out.
Begin(op, request, children) ==
    LET updated == UpdateOf(request)
        isWhole == "asserted" \notin updated.kinds
        isSent == isWhole /\ op = "submit"
        isReleased == /\ ~isSent /\ Keeps("release-on-abort")
                      /\ isWhole \/ HandlesOf(updated.features) # <<>>
        own == IF isSent \/ ~isWhole THEN {} ELSE {IF isReleased THEN "released" ELSE "rejected"}
    IN  /\ StoreBecomes(updated.store)
        /\ channel' = IF isSent \/ isReleased
                      THEN Append(channel, Message(updated.features, children, ~isSent)) ELSE channel
        /\ call' = OfRequest(op, request, children, Kind(updated.kinds \cup own))
        /\ UNCHANGED <<running, retries, is_dead>>

\* [SC-25] [SC-26] One request from its check to the channel.
Submit(request, children) ==
    /\ MayBegin(children)
    /\ IF IsUnsupplied(request)
       THEN UNCHANGED state /\ call' = OfRequest("submit", request, children, "unsupplied")
       ELSE Begin("submit", request, children)

\* [SC-45] A request once more, with all its data, past the cache, when there is room for it.
Retry(place) ==
    /\ ~is_dead /\ place \in DOMAIN retries /\ Len(channel) + Len(running) < Depth
    /\ LET request == retries[place].request
           features == [each \in DOMAIN request |-> Feature(request[each], None)]
       IN  channel' = Append(channel, Message(features, retries[place].children, FALSE))
    /\ retries' = WithoutPlace(retries, place)
    /\ call' = AtPlace("retry", place, "sent")
    /\ UNCHANGED <<store, running, outdated, is_dead>>

IsUnderWay ==
    \E place \in DOMAIN channel : \E worker \in WorkerNumbers :
        /\ channel[place].left[worker] > 0 /\ ~channel[place].has_read[worker]
        /\ HandlesOf(channel[place].features) # <<>>

\* [SC-41] P0 is cleared; with "drained-clear" not before every handle under way is acknowledged.
Clear ==
    /\ ~is_dead
    /\ IsUnderWay => Under("clear-in-flight")
    /\ IF IsUnderWay /\ Keeps("drained-clear")
       THEN UNCHANGED state /\ call' = [op |-> "clear", kind |-> "deferred"]
       ELSE /\ StoreBecomes(Cleared(store))
            /\ call' = [op |-> "clear", kind |-> "cleared"]
            /\ UNCHANGED <<traffic, is_dead>>

(***************************************************************************)
(* Workers                                                                 *)
(***************************************************************************)
\* [SC-29] The message in its place; or, when nobody has to read it any more, where its request goes.
PutBack(place, message) ==
    LET isOver == \A worker \in WorkerNumbers : message.left[worker] = 0
        request == [request |-> RequestOf(message.features), children |-> message.children]
    IN  /\ channel' = IF isOver THEN WithoutPlace(channel, place) ELSE [channel EXCEPT ![place] = message]
        /\ retries' = IF isOver /\ ~message.is_release /\ message.has_missed THEN Append(retries, request)
                      ELSE retries
        /\ running' = IF isOver /\ ~message.is_release /\ ~message.has_missed
                      THEN Append(running, [features |-> message.features, children |-> message.children,
                                            has_resumed |-> FALSE])
                      ELSE running

\* [SC-21] [SC-29] [SC-33] [SC-39] [SC-42] A worker reads a message for its next child. With "one-acknowledgement" only its
\* first read reads the handles. After a miss the request has failed, and this worker reads it no more.
Read(place, worker) ==
    /\ ~is_dead /\ place \in DOMAIN channel
    /\ channel[place].left[worker] > 0
    /\ LET message == channel[place]
           isKept == message.has_read[worker] /\ Keeps("one-acknowledgement")
           read == Acknowledged(store, HandlesOf(message.features))
           isMissed == read.gone # <<>>
           after == [message EXCEPT !.left[worker] = IF isMissed THEN 0 ELSE @ - 1,
                                    !.has_read[worker] = TRUE,
                                    !.has_missed = @ \/ isMissed]
           kind == IF message.is_release THEN "dropped"
                   ELSE IF isMissed THEN "missed"
                   ELSE IF HandlesOf(message.features) # <<>> THEN "acknowledged" ELSE "passed"
           Did(what) == [op |-> "read", position |-> place - 1, worker |-> worker - 1, kind |-> what]
       IN  IF isKept
           THEN /\ PutBack(place, [message EXCEPT !.left[worker] = @ - 1])
                /\ call' = Did("kept")
                /\ UNCHANGED <<store, outdated, is_dead>>
           ELSE IF isMissed /\ ~Keeps("recoverable-miss")
           THEN /\ is_dead' = TRUE
                /\ call' = Did("died")
                /\ UNCHANGED <<store, traffic, outdated>>
           ELSE /\ PutBack(place, after)
                /\ store' = read.store
                /\ call' = Did(kind)
                /\ UNCHANGED <<outdated, is_dead>>

\* [SC-29] [SC-40] A running request ends, and what was kept for it goes.
Finish(place) ==
    /\ ~is_dead /\ place \in DOMAIN running
    /\ running' = WithoutPlace(running, place)
    /\ call' = AtPlace("finish", place, "finished")
    /\ UNCHANGED <<store, channel, retries, outdated, is_dead>>
=============================================================================
