---------------------------- MODULE MCShmCaches ----------------------------
(* ShmCaches as TLC checks it: the requests of the presets, the graph written out, and rules that are broken on purpose. Both views are argued beside their definitions. *)
EXTENDS ShmProperties, ShmRequests, Graph

\* An action constraint that writes the graph.
Edge == EdgeIsWritten(exactView, call', exactView')

(***************************************************************************)
(* Twins: each .cfg that must fail puts one of these in a rule's place,    *)
(* where it is not a protection that is missing.                           *)
(***************************************************************************)
\* For Put: nothing that was stored ever leaves.
PutFreesNothing(held, touched, key, content) ==
    LET entry == [key |-> key, content |-> content, references |-> 1, acknowledged |-> 0]
    IN  IF IsTooLarge(content.nbytes) THEN [store |-> held, kind |-> "too-large"]
        ELSE IF PlaceFor(held.ring, content.nbytes) = None THEN [store |-> held, kind |-> "no-room"]
        ELSE [store |-> [ring |-> Allocated(held.ring, content.nbytes), entries |-> Append(held.entries, entry)],
              kind |-> "put"]

\* For Put: what is too large evicts before it is refused (S06).
PutEvictsFirst(held, touched, key, content) ==
    IF IsTooLarge(content.nbytes) THEN [store |-> Cleared(held), kind |-> "too-large"]
    ELSE PutFreesNothing(held, touched, key, content)

\* For Put: a chunk lies behind the last one, wherever the area ends.
PutAnywhere(held, touched, key, content) ==
    LET ring == [held.ring EXCEPT !.chunks = Append(@, [id |-> held.ring.next_id, begin |-> held.ring.end,
                                                       size |-> content.nbytes]),
                                  !.end = @ + content.nbytes, !.next_id = @ + 1]
        entry == [key |-> key, content |-> content, references |-> 1, acknowledged |-> 0]
    IN  [store |-> [ring |-> ring, entries |-> Append(held.entries, entry)], kind |-> "put"]

\* For HandleAt: the handle of the chunk that was made before.
HandleBefore(held, place) ==
    [key |-> held.entries[place].key, id |-> held.ring.chunks[place].id - 1, begin |-> held.ring.chunks[place].begin]

\* For Acknowledged: a chunk that is gone is not noticed.
NothingNoticed(held, handles) == [store |-> held, gone |-> <<>>]

\* For Cleared: the ring alone.
RingCleared(held) == [ring |-> EmptyRing(held.ring.next_id), entries |-> held.entries]

\* For Submit: what the client left out is not looked for.
SubmitUnchecked(request, children) == MayBegin(children) /\ Begin("submit", request, children)

\* For PutBack: the first worker that has read is enough.
PutBackEarly(place, message) ==
    /\ channel' = WithoutPlace(channel, place)
    /\ retries' = retries
    /\ running' = Append(running, [features |-> message.features, children |-> message.children,
                                   has_resumed |-> FALSE])

\* For Forge: a handle is believed (S09).
ForgeBelieved(key, how, at) ==
    /\ Under("forge") /\ ~is_dead /\ key \in Stored(store)
    /\ call' = [op |-> "forge", key |-> key, how |-> how, at |-> at, kind |-> "accepted"]
    /\ UNCHANGED state

\* For Retry: it claims again what was missed.
RetryClaims(place) ==
    /\ ~is_dead /\ place \in DOMAIN retries /\ Len(channel) + Len(running) < Depth
    /\ LET updated == UpdateOf(retries[place].request)
       IN  /\ StoreBecomes(updated.store)
           /\ channel' = Append(channel, Message(updated.features, retries[place].children, FALSE))
    /\ retries' = WithoutPlace(retries, place)
    /\ call' = AtPlace("retry", place, "sent")
    /\ UNCHANGED <<running, is_dead>>
=============================================================================
