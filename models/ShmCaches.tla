----------------------------- MODULE ShmCaches -----------------------------
(* The caches in shared memory in their environment: what may happen to them, the rules that stop it, the system of all
   actions, and what tells its states apart. Each accident is off until `Accidents` names it. Where a protection stops
   one, no harm is done.

   Normative text: spec/08-shm-caches.md. The same in Python, action by action and under the same names:
   mmcache_ref/model/shm_accident_steps.py, shm_counts.py, shm_caches.py.                                   *)
EXTENDS ShmProtocol

(***************************************************************************)
(* The environment                                                         *)
(***************************************************************************)
\* [SC-38] Refused after its update; with "release-on-abort" the workers read it as a release.
Reject(request, children) ==
    /\ Under("reject") /\ MayBegin(children)
    /\ IF IsUnsupplied(request)
       THEN UNCHANGED state /\ call' = OfRequest("reject", request, children, "unsupplied")
       ELSE Begin("reject", request, children)

\* [SC-38] [SC-44] What is left of messages whose requests are over: one read of each worker that has read nothing.
AsRelease(message) ==
    [message EXCEPT !.left = [worker \in WorkerNumbers |->
                                 IF message.left[worker] > 0 /\ ~message.has_read[worker] THEN 1 ELSE 0],
                    !.is_release = TRUE, !.has_missed = FALSE]
IsOwed(message) == \E worker \in WorkerNumbers : message.left[worker] > 0

\* [SC-38] Taken out of the channel; with "release-on-abort" it stays until all workers have read it.
Abort(place) ==
    /\ Under("abort") /\ ~is_dead /\ place \in DOMAIN channel
    /\ ~channel[place].is_release
    /\ LET release == AsRelease(channel[place])
       IN  channel' = IF Keeps("release-on-abort") /\ IsOwed(release)
                      THEN [channel EXCEPT ![place] = release] ELSE WithoutPlace(channel, place)
    /\ call' = AtPlace("abort", place, IF Keeps("release-on-abort") THEN "released" ELSE "aborted")
    /\ UNCHANGED <<store, running, retries, outdated, is_dead>>

\* [SC-30] Payloads become nothing before anybody reads them; with "keep-handles" no handle does.
Strip(place) ==
    /\ Under("strip") /\ ~is_dead /\ place \in DOMAIN channel
    /\ ~channel[place].is_release
    /\ \A worker \in WorkerNumbers : ~channel[place].has_read[worker]
    /\ \E each \in DOMAIN channel[place].features : ~channel[place].features[each].is_stripped
    /\ LET features == channel[place].features
           Stripped(feature) ==
               IF feature.handle # None /\ Keeps("keep-handles") THEN feature
               ELSE [item |-> feature.item, handle |-> None, is_stripped |-> TRUE, is_referenced |-> TRUE]
           after == [each \in DOMAIN features |-> Stripped(features[each])]
       IN  /\ channel' = [channel EXCEPT ![place].features = after]
           /\ call' = AtPlace("strip", place, IF after = features THEN "handles-kept" ELSE "stripped")
    /\ UNCHANGED <<store, running, retries, outdated, is_dead>>

RECURSIVE ReadTimes(_, _, _)
ReadTimes(held, handles, times) ==
    LET once == Acknowledged(held, handles)
    IN  IF times = 1 THEN once ELSE ReadTimes(once.store, handles, times - 1)

\* [SC-40] [SC-42] Every worker is given a running request again, at most once. With "handle-until-done" it has what it
\* read; without, it reads the handles once more.
Resume(place) ==
    /\ Under("resume") /\ ~is_dead /\ place \in DOMAIN running
    /\ ~running[place].has_resumed
    /\ LET features == running[place].features
           read == ReadTimes(store, HandlesOf(features), Workers)
           isMissed == read.gone # <<>>
           again == [running EXCEPT ![place].has_resumed = TRUE]
           Did(kind) == AtPlace("resume", place, kind)
       IN  IF Keeps("handle-until-done")
           THEN running' = again /\ call' = Did("kept") /\ UNCHANGED <<store, retries, is_dead>>
           ELSE IF ~isMissed
           THEN /\ running' = again /\ store' = read.store
                /\ call' = Did(IF HandlesOf(features) # <<>> THEN "acknowledged" ELSE "passed")
                /\ UNCHANGED <<retries, is_dead>>
           ELSE IF ~Keeps("recoverable-miss")
           THEN is_dead' = TRUE /\ call' = Did("died") /\ UNCHANGED <<store, running, retries>>
           ELSE /\ store' = read.store
                /\ running' = WithoutPlace(running, place)
                /\ retries' = Append(retries, [request |-> RequestOf(features), children |-> running[place].children])
                /\ call' = Did("missed")
                /\ UNCHANGED is_dead
    /\ UNCHANGED <<channel, outdated>>

\* [SC-44] A worker dies, and every request under way ends. The others still have in their queues what they have not
\* read, as releases. With "clear-on-death" P0 is cleared at once, and the requests will be retried.
WorkerDeath(worker) ==
    /\ Under("worker-death") /\ ~is_dead
    /\ LET Survived(message) == AsRelease([message EXCEPT !.left[worker] = 0])
           left == [place \in DOMAIN channel |-> Survived(channel[place])]
           asked == SelectSeq(channel, LAMBDA message : ~message.is_release)
           Again(each) == [request |-> RequestOf(each.features), children |-> each.children]
           ended == [place \in DOMAIN asked |-> Again(asked[place])]
                    \o [place \in DOMAIN running |-> Again(running[place])]
       IN  /\ channel' = SelectSeq(left, IsOwed)
           /\ running' = <<>>
           /\ IF Keeps("clear-on-death")
              THEN StoreBecomes(Cleared(store)) /\ retries' = retries \o ended
              ELSE UNCHANGED <<store, outdated, retries>>
    /\ call' = [op |-> "worker-death", worker |-> worker - 1,
                kind |-> IF Keeps("clear-on-death") THEN "cleared" ELSE "restarted"]
    /\ UNCHANGED is_dead

\* [SC-15] [SC-22] [SC-27] A client's own handle is refused wherever it is shown, and nothing changes.
Forge(key, how, at) ==
    /\ Under("forge") /\ ~is_dead /\ key \in Stored(store)
    /\ call' = [op |-> "forge", key |-> key, how |-> how, at |-> at,
                kind |-> IF at = "p0" THEN "refused" ELSE "refused-by-worker"]
    /\ UNCHANGED state

\* [SC-27] [SC-43] A client's handle is refused unless it is current; if protected, it takes a reference.
Replay(key, isOutdated) ==
    /\ Under("replay") /\ MayBegin(1)
    /\ key \in (IF isOutdated THEN outdated ELSE Stored(store))
    /\ LET place == PlaceOf(store, key)
           isReferenced == Keeps("validated-handle")
           feature == [item |-> Item(key, store.entries[place].content), handle |-> HandleAt(store, place),
                       is_stripped |-> FALSE, is_referenced |-> isReferenced]
           Did(kind) == [op |-> "replay", key |-> key, is_outdated |-> isOutdated, kind |-> kind]
       IN  IF isOutdated
           THEN UNCHANGED state /\ call' = Did("refused")
           ELSE /\ store' = IF isReferenced THEN LookedUp(store, place) ELSE store
                /\ channel' = Append(channel, Message(<<feature>>, 1, FALSE))
                /\ call' = Did(IF isReferenced THEN "referenced" ELSE "accepted")
                /\ UNCHANGED <<running, retries, outdated, is_dead>>

(***************************************************************************)
(* The system                                                              *)
(***************************************************************************)
Owing(message) ==
    Cardinality({worker \in WorkerNumbers : message.left[worker] > 0 /\ ~message.has_read[worker]})

Naming(message, id) ==
    Len(SelectSeq(message.features, LAMBDA feature :
        feature.is_referenced /\ feature.handle # None /\ feature.handle.id = id))

\* What is still to be acknowledged of the chunk at this place: by nobody (above 0), or too often (below 0).
Error(place) ==
    LET id == store.ring.chunks[place].id
        underWay == [each \in DOMAIN channel |-> Owing(channel[each]) * Naming(channel[each], id)]
    IN  store.entries[place].references * Workers - store.entries[place].acknowledged - Sum(underWay)

\* Without protections counts drift ever further apart; what a larger error leads to, a smaller one does, too.
CountsAreNear == \A place \in DOMAIN store.entries : Error(place) \in (-Workers)..Workers

Places == 1..Depth
Children == {1, 2}
Forgeries == {"wrong-key", "wrong-signature", "out-of-range", "unsigned"}

Next ==
    /\ CountsAreNear
    /\ \/ \E request \in Requests, children \in Children : Submit(request, children)
       \/ \E place \in Places, worker \in WorkerNumbers : Read(place, worker)
       \/ \E place \in Places : Finish(place)
       \/ \E place \in Places : Retry(place)
       \/ Clear
       \/ \E request \in Requests, children \in Children : Reject(request, children)
       \/ \E place \in Places : Abort(place)
       \/ \E place \in Places : Strip(place)
       \/ \E place \in Places : Resume(place)
       \/ \E worker \in WorkerNumbers : WorkerDeath(worker)
       \/ \E how \in Forgeries, at \in {"p0", "worker"} : Forge(ForgedKey, how, at)
       \/ \E key \in Keys, isOutdated \in BOOLEAN : Replay(key, isOutdated)

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* The view                                                                *)
(***************************************************************************)
(* What tells states apart. Ids and laps only tell chunks apart, so a handle is the place of its chunk among the others,
   and a chunk where it lies. Of references and count only what is left to acknowledge matters. Which handles are
   outdated changes nothing but itself. Workers are alike: their places in what they have read may be exchanged. The
   order of what is under way does not matter: bags. A dead engine is one state. *)
SeenFeatures(features) ==
    LET Where(handle) ==
            LET places == Holder(store, handle)
            IN  IF handle = None THEN -2 ELSE IF places = {} THEN -1 ELSE CHOOSE place \in places : TRUE
    IN  [each \in DOMAIN features |-> <<features[each].item, Where(features[each].handle), features[each].is_stripped,
                                        features[each].is_referenced>>]

Bag(sequence) ==
    LET values == {sequence[place] : place \in DOMAIN sequence}
    IN  {<<value, Cardinality({place \in DOMAIN sequence : sequence[place] = value})>> : value \in values}

Exchanges == {order \in [WorkerNumbers -> WorkerNumbers] :
                \A one, other \in WorkerNumbers : order[one] = order[other] => one = other}

SeenMessage(message, order) ==
    <<SeenFeatures(message.features), message.children, message.is_release, message.has_missed,
      [worker \in WorkerNumbers |-> <<message.left[order[worker]], message.has_read[order[worker]]>>]>>

SeenRunning(each) == <<SeenFeatures(each.features), each.children, each.has_resumed>>

SeenChunks == [place \in DOMAIN store.ring.chunks |-> store.ring.chunks[place].begin - store.ring.chunks[1].begin]

SeenEntries ==
    [place \in DOMAIN store.entries |->
        LET entry == store.entries[place]
        IN  <<entry.key, entry.content, entry.references * Workers - entry.acknowledged>>]

SeenStore == <<store.ring.begin, store.ring.end, SeenChunks, SeenEntries>>

view ==
    IF is_dead THEN <<"dead">>
    ELSE SeenStore \o
         <<{Bag([place \in DOMAIN channel |-> SeenMessage(channel[place], order)]) : order \in Exchanges},
           Bag([place \in DOMAIN running |-> SeenRunning(running[place])]),
           Bag(retries)>>

\* Where it matters which worker does what to which message, and which handles a client may replay: what tells states
\* apart that differ in what can be done next. Also dead ones, by what they had under way: that a dead engine does
\* nothing any more is a rule of every action, which one state for all would not show.
exactView ==
    SeenStore \o
    <<[place \in DOMAIN channel |-> [channel[place] EXCEPT !.features = SeenFeatures(@)]],
      [place \in DOMAIN running |-> [running[place] EXCEPT !.features = SeenFeatures(@)]],
      retries, outdated, is_dead>>

(***************************************************************************)
(* Fairness: what the protocol may assume of its environment               *)
(***************************************************************************)
\* [SC-53] Each worker reads, the oldest message first; others may come before it.
WorkersRead == \A worker \in WorkerNumbers : WF_exactView(Read(1, worker))

\* [SC-54] The engine goes on: with the oldest request that runs, with the oldest retry.
RequestsGoOn == WF_exactView(Finish(1)) /\ WF_exactView(Retry(1))

\* [SC-55] From some time on no worker dies.
WorkersLive == <>[][call'.op # "worker-death"]_vars
=============================================================================
