---------------------------- MODULE MCObjectStore ----------------------------
(* ObjectStore as TLC checks it: the graph written out, and rules that are broken on purpose. *)
EXTENDS ObjectStore, Graph

\* An action constraint that writes the graph.
Edge == EdgeIsWritten(view, call', view')

(***************************************************************************)
(* Twins: each .cfg that must fail puts one of these in a rule's place.    *)
(***************************************************************************)
\* For GetCached: nobody bounds the references.
GetCachedWithoutBound(key) ==
    /\ IsStored(key)
    /\ chunks' = [chunks EXCEPT ![Place(key)].references = @ + 1]
    /\ UNCHANGED <<begin, end, nextId, stale, clears>>
    /\ call' = [op |-> "get_cached", key |-> key, kind |-> "hit"]

\* For IsStored: a key is stored a second time.
NeverStored(key) == FALSE

\* For Read: a handle is read as often as one likes (S04).
ReadAgain(key, reader) ==
    /\ IsStored(key)
    /\ chunks' = [chunks EXCEPT ![Place(key)].reads = @ + 1]
    /\ UNCHANGED <<begin, end, nextId, stale, clears>>
    /\ call' = [op |-> "get", key |-> key, reader |-> reader, kind |-> "read"]

\* For Clear: ids begin anew (S08).
ClearRestartsIds ==
    /\ clears < MostClears
    /\ chunks' = <<>>
    /\ begin' = 0
    /\ end' = 0
    /\ nextId' = 0
    /\ stale' = Left(stale, chunks)
    /\ clears' = clears + 1
    /\ call' = [op |-> "clear", kind |-> "cleared"]

\* For Clear: what is touched stays.
ClearKeepsTouched ==
    /\ clears < MostClears
    /\ chunks' = SelectSeq(chunks, LAMBDA chunk : chunk.isTouched)
    /\ UNCHANGED <<begin, end, nextId, stale>>
    /\ clears' = clears + 1
    /\ call' = [op |-> "clear", kind |-> "cleared"]

\* For IsFree: a touch does not protect.
FreeAlthoughTouched(chunk) == chunk.reads >= chunk.references * Readers

\* For Rest: the newest leave.
RestOfTheOldest(count) == SubSeq(chunks, 1, Len(chunks) - count)

\* For FreedFor: a put frees only when it is too late (S18).
FreedForNothing(size) == 0

\* For OneAttempt: nothing is ever freed.
NoAttempt == 0

\* For Touch: a touch is counted as a reference (S01).
TouchCounts(key) ==
    /\ IsStored(key)
    /\ chunks[Place(key)].references < MostReferences
    /\ chunks' = [chunks EXCEPT ![Place(key)].references = @ + 1, ![Place(key)].isTouched = TRUE]
    /\ UNCHANGED <<begin, end, nextId, stale, clears>>
    /\ call' = [op |-> "touch", key |-> key, kind |-> "touched"]

\* For RefusePut: an id is used up (S14).
RefusePutAndTakeId(key, nbytes) ==
    /\ nextId < MostPuts
    /\ KindOfPut(key, nbytes) = "duplicate"
    /\ nextId' = nextId + 1
    /\ UNCHANGED <<chunks, begin, end, stale, clears>>
    /\ call' = [op |-> "put", key |-> key, nbytes |-> nbytes, kind |-> "duplicate"]
=============================================================================
