--------------------------- MODULE ShmProperties ---------------------------
(* What users of the shared-memory caches rely on: clauses of spec/08-shm-caches.md, as invariants of states and
   properties of steps. Each is judged from what can be seen: the state before and after, and what was done. The same
   in Python, under the same names: mmcache_ref/model/shm_properties.py.                                    *)
EXTENDS ShmCaches

(***************************************************************************)
(* Invariants                                                              *)
(***************************************************************************)
TypeOK ==
    /\ Len(store.entries) = Len(store.ring.chunks)
    /\ \A place \in DOMAIN channel :
        /\ DOMAIN channel[place].left = WorkerNumbers /\ DOMAIN channel[place].has_read = WorkerNumbers
        /\ \A worker \in WorkerNumbers : channel[place].left[worker] \in 0..2
    /\ \A place \in DOMAIN running : running[place].has_resumed \in BOOLEAN
    /\ \A place \in DOMAIN retries : retries[place].children \in Children
    /\ is_dead \in BOOLEAN

\* [SC-07] Each key is stored once, and the chunks lie in the ring, one behind the other.
SoundStore ==
    /\ \A one, other \in DOMAIN store.entries :
        store.entries[one].key = store.entries[other].key => one = other
    /\ AreApart(store.ring.chunks)

\* [SC-34] No chunk has more acknowledgements than its own references ask for.
PaidOnce == is_dead \/ \A place \in DOMAIN store.entries : Error(place) >= 0

\* [SC-35] Every reference is acknowledged by all, or under way to those that have yet to.
NothingStranded == is_dead \/ \A place \in DOMAIN store.entries : Error(place) <= 0

IsQuiet == traffic = << <<>>, <<>>, <<>> >> /\ ~is_dead

\* [SC-35] [SC-36] When nothing is under way, any item that fits is stored, whatever is in the ring.
Reclaimable ==
    IsQuiet => \A request \in Requests :
        IF Len(request) # 1 THEN TRUE
        ELSE IF IsTooLarge(request[1].content.nbytes) \/ IsUnsupplied(request) THEN TRUE
        ELSE UpdateOf(request).kinds \subseteq {"put", "hit"}

(***************************************************************************)
(* Properties of steps                                                     *)
(***************************************************************************)
Did(op) == call'.op = op
IsRequest == call'.op \in {"submit", "reject"}
Place == call'.position + 1
Worker == call'.worker + 1
ErrorsAfter == [place \in DOMAIN store'.entries |-> Error(place)']

IsGone(feature) == IF feature.handle = None THEN FALSE ELSE Holder(store, feature.handle) = {}
AnyGone(features) == \E place \in DOMAIN features : IsGone(features[place])

\* What a worker reads, or every worker reads again.
Subject == IF Did("read") THEN channel[Place] ELSE running[Place]
IsReading == Did("read") \/ Did("resume")

\* [SC-26] A request that lacks data is refused, and nothing changes.
RefusedFirst == [][IsRequest /\ IsUnsupplied(call'.request) => UNCHANGED state /\ call'.kind = "unsupplied"]_vars

\* [SC-27] A client's handle that does not stand is refused, and nothing changes.
ForgedRefused ==
    [][(Did("forge") \/ (Did("replay") /\ call'.is_outdated))
        => UNCHANGED state /\ call'.kind \in {"refused", "refused-by-worker"}]_vars

\* [SC-28] A message carries every item, in order, and its handles name current chunks.
CarriedInOrder ==
    [][IsRequest /\ Len(channel') > Len(channel) =>
        LET features == channel'[Len(channel')].features
            chunks == store'.ring.chunks
        IN  /\ Len(features) = Len(call'.request)
            /\ \A each \in DOMAIN features :
                /\ features[each].item.key = call'.request[each].key
                /\ features[each].handle # None => \E place \in DOMAIN chunks :
                    /\ chunks[place].id = features[each].handle.id
                    /\ store'.entries[place].key = features[each].item.key]_vars

\* [SC-29] A request runs when every worker has read every child of it, and not before.
ReadByAll ==
    [][Did("read") /\ ~is_dead' =>
        LET message == channel[Place]
            othersDone == \A other \in WorkerNumbers \ {Worker} : message.left[other] = 0
            isLast == othersDone /\ (message.left[Worker] = 1 \/ call'.kind = "missed")
        IN  (Len(channel') < Len(channel)) <=> isLast]_vars

\* [SC-30] What is stripped has no handle, and the order of the items stays.
HandlesStay ==
    [][Did("strip") => \A each \in DOMAIN channel[Place].features :
        /\ channel'[Place].features[each].item = channel[Place].features[each].item
        /\ channel'[Place].features[each].handle = channel[Place].features[each].handle]_vars

\* [SC-32] A worker that reads a request finds every chunk in place.
NothingGone ==
    [][IsReading => \/ Did("read") /\ channel[Place].is_release
                    \/ call'.kind # "missed" /\ ~is_dead']_vars

\* [SC-33] A miss is told exactly where a chunk is gone.
ExactMiss ==
    [][IsReading /\ ~is_dead' =>
        \/ Did("read") /\ (channel[Place].is_release \/ channel[Place].has_read[Worker])
        \/ Did("resume") /\ Keeps("handle-until-done")
        \/ call'.kind = "missed" <=> AnyGone(Subject.features)]_vars

\* [SC-36] An item that fits travels with its data only if what is held leaves no place for it. Held is everything from the
\* oldest chunk on that is not free.
RefusedForRoom ==
    [][IsRequest /\ Len(call'.request) = 1 /\ call'.kind = "no-room" =>
        LET held == {place \in DOMAIN store.entries : ~IsFree(store.entries[place])}
            first == IF held = {} THEN Len(store.entries) + 1
                     ELSE CHOOSE place \in held : \A other \in held : place <= other
        IN  PlaceFor(DropOldest(store.ring, first - 1), call'.request[1].content.nbytes) = None]_vars

\* [SC-37] A request for one item that is never stored leaves the store as it was.
LargeIsHarmless ==
    [][IsRequest => Len(call'.request) # 1 \/ ~IsTooLarge(call'.request[1].content.nbytes) \/ UNCHANGED store]_vars

\* No chunk has more acknowledgements missing than before.
NothingLost ==
    \A place \in DOMAIN store'.entries :
        LET before == {each \in DOMAIN store.entries : store.ring.chunks[each].id = store'.ring.chunks[place].id}
        IN  ErrorsAfter[place] <= (IF before = {} THEN 0 ELSE Error(CHOOSE each \in before : TRUE))

\* [SC-38] What is refused after its update, or aborted, is read by all the same.
EndedAreRead ==
    [][(Did("reject") /\ call'.kind \notin {"unsupplied", "asserted"}) \/ Did("abort") => NothingLost]_vars

\* [SC-39] A further child of a request acknowledges nothing.
AcknowledgedOnce == [][Did("read") => ~channel[Place].has_read[Worker] \/ UNCHANGED store]_vars

\* [SC-40] A request that resumes is served, and acknowledges nothing.
KeptUntilDone == [][Did("resume") => UNCHANGED store /\ call'.kind \in {"kept", "acknowledged", "passed"}]_vars

\* [SC-41] Nothing is cleared while a handle is under way.
ClearedWhenDrained == [][Did("clear") => call'.kind = "deferred" \/ ~IsUnderWay]_vars

\* [SC-42] A worker that finds a chunk gone lives on.
NoWorkerDies == [][IsReading => ~is_dead']_vars

\* [SC-43] A client's handle that is accepted is acknowledged for a reference of its own.
HasOwnReference ==
    [][Did("replay") /\ ~call'.is_outdated =>
        \A each \in DOMAIN channel'[Len(channel')].features :
            channel'[Len(channel')].features[each].is_referenced]_vars

\* [SC-44] No chunk waits for a dead worker, and every request under way will be retried.
DeadOwesNothing ==
    [][Did("worker-death") =>
        /\ NothingLost
        /\ Len(retries') = Len(retries) + Len(running)
            + Len(SelectSeq(channel, LAMBDA message : ~message.is_release))]_vars

\* [SC-45] A retry carries all its data: no worker needs the store for it.
RetryCarriesAll ==
    [][Did("retry") =>
        LET message == channel'[Len(channel')]
        IN  /\ HandlesOf(message.features) = <<>>
            /\ RequestOf(message.features) = retries[Place].request]_vars
=============================================================================
