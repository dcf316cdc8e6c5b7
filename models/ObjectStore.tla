---------------------------- MODULE ObjectStore -----------------------------
(***************************************************************************)
(* The object store: one writer and its readers over one ring.             *)
(*                                                                         *)
(* spec/07-object-store.md says what must hold;                            *)
(* mmcache_ref/model/object_store.py is the same model in Python.  One     *)
(* action is one call of the API.  Left out are signatures and forgeries,  *)
(* serialisation, and a writer that overtakes a reader, which              *)
(* RingPublication has.                                                    *)
(***************************************************************************)
EXTENDS RingPlacement

(***************************************************************************)
(* Constants; Capacity is one of RingPlacement                             *)
(***************************************************************************)
CONSTANTS
    MaxObjectSize,  \* the bytes that a serialised object may have
    Readers,        \* how many readers there are
    Keys,           \* what objects are stored under
    Sizes,          \* the bytes of the contents that are tried
    MostPuts,       \* how many objects are stored in a run, at most
    MostReferences, \* how many references an object gets, at most
    MostClears      \* how many clears there are in a run, at most

Overhead == Header + 4 + 19  \* the header, the reader count, and the metadata of the serde

ASSUME /\ Readers \in Nat \ {0}
       /\ Sizes \subseteq Nat \ {0}

(***************************************************************************)
(* Variables                                                               *)
(*                                                                         *)
(*   TLA+     Python model                reference                        *)
(*   chunks   State.ring.chunks,          key_index, id_index,             *)
(*            State.objects               writer_flag, reader count        *)
(*   begin    State.ring.begin            data_buffer_start                *)
(*   end      State.ring.end              data_buffer_end                  *)
(*   nextId   State.ring.next_id          monotonic_id_end                 *)
(*   stale    State.handles, of each key  the handle that a reader holds   *)
(*            the newest without a chunk                                   *)
(*   clears   State.clears                -                                *)
(*   call     Operation, Outcome          the call itself                  *)
(***************************************************************************)
VARIABLES
    chunks,  \* <<[id, begin, size, key, references, reads, isTouched], ...>>, the oldest first
    begin,   \* the virtual address where the oldest chunk begins
    end,     \* the virtual address behind the newest chunk
    nextId,  \* the id that the next chunk gets; ids never restart
    stale,   \* of each key {}, or the newest handle whose chunk is gone: {[id, begin, size, isOverwritten]}
    clears,  \* how often the store was cleared
    call     \* the call that was just made, and its kind; no action reads it

view == <<chunks, begin, end, nextId, stale, clears>>
vars == <<chunks, begin, end, nextId, stale, clears, call>>

Chunk == [id : Nat, begin : 0..(2 * Capacity - 1), size : (Overhead + 1)..Capacity, key : Keys,
          references : 1..MostReferences, reads : Nat, isTouched : BOOLEAN]

Handle == [id : Nat, begin : 0..(2 * Capacity - 1), size : (Overhead + 1)..Capacity, isOverwritten : BOOLEAN]

KeysOf(list) == {list[i].key : i \in DOMAIN list}
IsStored(key) == key \in KeysOf(chunks)
Place(key) == CHOOSE i \in DOMAIN chunks : chunks[i].key = key

SizeOf(nbytes) == nbytes + Overhead

(***************************************************************************)
(* Reclaiming                                                              *)
(***************************************************************************)
\* [RB-20] The ring without its `count` oldest chunks.
Rest(count) == SubSeq(chunks, count + 1, Len(chunks))
BeginAfter(count) == IF count = 0 THEN begin ELSE BeginBefore(Rest(count))
EndAfter(count) == IF count = 0 THEN end ELSE EndBehind(Rest(count))

BytesOf(count) == Sum([i \in 1..count |-> chunks[i].size])

\* [OS-25]
IsFree(chunk) == ~chunk.isTouched /\ chunk.reads >= chunk.references * Readers

\* The first number in a set; `otherwise` where it is empty.
Least(numbers, otherwise) ==
    IF numbers = {} THEN otherwise ELSE CHOOSE one \in numbers : \A other \in numbers : one <= other

\* How many of the oldest chunks are free.
FreePrefix == Least({i \in DOMAIN chunks : ~IsFree(chunks[i])}, Len(chunks) + 1) - 1

\* [OS-04] [OS-27] In order, until so many bytes are freed or a chunk is not free.
OneAttempt ==
    LET enough == {count \in 0..FreePrefix : BytesOf(count) >= 2 * MaxObjectSize}
    IN  Least(enough, FreePrefix)

HasRoomAfter(count, size) == Fits(BeginAfter(count), EndAfter(count), size)

\* [OS-05] After the attempt chunk by chunk, while there is no place.
Further(size) == {count \in OneAttempt..FreePrefix : HasRoomAfter(count, size)}

\* How many chunks are freed for one of `size` bytes.
FreedFor(size) ==
    IF HasRoomAfter(0, size) THEN 0 ELSE Least(Further(size), FreePrefix)

\* [OS-31] Chunks that leave become stale handles.
Left(old, gone) ==
    [key \in Keys |->
        IF key \in KeysOf(gone)
        THEN LET chunk == gone[CHOOSE i \in DOMAIN gone : gone[i].key = key]
             IN  {[id |-> chunk.id, begin |-> chunk.begin, size |-> chunk.size, isOverwritten |-> FALSE]}
        ELSE old[key]]

\* Stale handles over whose place a new chunk is laid.
Overlaid(old, new) ==
    [key \in Keys |->
        {[handle EXCEPT !.isOverwritten = handle.isOverwritten \/ Overlap(handle, new)] : handle \in old[key]}]

(***************************************************************************)
(* Actions of the writer                                                   *)
(***************************************************************************)
Init ==
    /\ chunks = <<>>
    /\ begin = 0
    /\ end = 0
    /\ nextId = 0
    /\ stale = [key \in Keys |-> {}]
    /\ clears = 0
    /\ call = [op |-> "initial"]

\* [OS-02] [OS-03] [OS-04] [OS-05] [OS-06] What a put comes to, in the order in which it is asked.
KindOfPut(key, nbytes) ==
    LET size == SizeOf(nbytes)
        freed == FreedFor(size)
    IN  CASE IsStored(key) -> "duplicate"
          [] ~IsStored(key) /\ size - Header > MaxObjectSize -> "too_large"
          [] ~IsStored(key) /\ size - Header <= MaxObjectSize /\ size > Capacity -> "never_fits"
          [] OTHER -> CASE ~HasRoomAfter(freed, size) -> "blocked"
                        [] HasRoomAfter(freed, size) /\ freed = 0 -> "stored"
                        [] OTHER -> IF freed <= OneAttempt THEN "made_room" ELSE "made_more_room"

NewChunk(key, nbytes) ==
    LET freed == FreedFor(SizeOf(nbytes))
    IN  [id         |-> nextId,
         begin      |-> Placed(BeginAfter(freed), EndAfter(freed), SizeOf(nbytes)),
         size       |-> SizeOf(nbytes),
         key        |-> key,
         references |-> 1,
         reads      |-> 0,
         isTouched  |-> FALSE]

FreePrefixOf(count) == SubSeq(chunks, 1, count)

\* [OS-01] [OS-04]
Put(key, nbytes) ==
    /\ nextId < MostPuts
    /\ KindOfPut(key, nbytes) \in {"stored", "made_room", "made_more_room"}
    /\ chunks' = Append(Rest(FreedFor(SizeOf(nbytes))), NewChunk(key, nbytes))
    /\ begin' = BeginAfter(FreedFor(SizeOf(nbytes)))
    /\ end' = NewChunk(key, nbytes).begin + SizeOf(nbytes)
    /\ nextId' = nextId + 1
    /\ stale' = Overlaid(Left(stale, FreePrefixOf(FreedFor(SizeOf(nbytes)))), NewChunk(key, nbytes))
    /\ clears' = clears
    /\ call' = [op |-> "put", key |-> key, nbytes |-> nbytes, kind |-> KindOfPut(key, nbytes)]

\* [OS-02] [OS-03] [OS-06] What is refused changes nothing.
RefusePut(key, nbytes) ==
    /\ nextId < MostPuts
    /\ KindOfPut(key, nbytes) \in {"duplicate", "too_large", "never_fits"}
    /\ UNCHANGED view
    /\ call' = [op |-> "put", key |-> key, nbytes |-> nbytes, kind |-> KindOfPut(key, nbytes)]

\* [OS-05] There is no place, though all was freed that could be.
BlockPut(key, nbytes) ==
    /\ nextId < MostPuts
    /\ KindOfPut(key, nbytes) = "blocked"
    /\ chunks' = Rest(FreePrefix)
    /\ begin' = BeginAfter(FreePrefix)
    /\ end' = EndAfter(FreePrefix)
    /\ nextId' = nextId
    /\ stale' = Left(stale, FreePrefixOf(FreePrefix))
    /\ clears' = clears
    /\ call' = [op |-> "put", key |-> key, nbytes |-> nbytes, kind |-> "blocked"]

\* [OS-10] One more reference; it ends the touch of the key.
GetCached(key) ==
    /\ IsStored(key) => chunks[Place(key)].references < MostReferences
    /\ chunks' = IF IsStored(key)
                 THEN [chunks EXCEPT ![Place(key)].references = @ + 1, ![Place(key)].isTouched = FALSE]
                 ELSE chunks
    /\ UNCHANGED <<begin, end, nextId, stale, clears>>
    /\ call' = [op |-> "get_cached", key |-> key, kind |-> IF IsStored(key) THEN "hit" ELSE "miss"]

\* [OS-12] [OS-14] A touch is no reference.
Touch(key) ==
    /\ chunks' = IF IsStored(key) THEN [chunks EXCEPT ![Place(key)].isTouched = TRUE] ELSE chunks
    /\ UNCHANGED <<begin, end, nextId, stale, clears>>
    /\ call' = [op |-> "touch", key |-> key, kind |-> IF IsStored(key) THEN "touched" ELSE "miss"]

\* [OS-13]
ReleaseTouches ==
    /\ chunks' = [i \in DOMAIN chunks |-> [chunks[i] EXCEPT !.isTouched = FALSE]]
    /\ UNCHANGED <<begin, end, nextId, stale, clears>>
    /\ call' = [op |-> "release_touches", kind |-> "released"]

\* [OS-27] [OS-33]
FreeUnused ==
    /\ chunks' = Rest(OneAttempt)
    /\ begin' = BeginAfter(OneAttempt)
    /\ end' = EndAfter(OneAttempt)
    /\ stale' = Left(stale, FreePrefixOf(OneAttempt))
    /\ UNCHANGED <<nextId, clears>>
    /\ call' = [op |-> "free_unused",
                kind |-> CASE chunks # <<>> /\ OneAttempt = 0 -> "held"
                           [] OneAttempt = Len(chunks) -> "reclaimed"
                           [] OTHER -> "freed"]

\* [OS-28] [OS-29] Ids go on.
Clear ==
    /\ clears < MostClears
    /\ chunks' = <<>>
    /\ begin' = 0
    /\ end' = 0
    /\ nextId' = nextId
    /\ stale' = Left(stale, chunks)
    /\ clears' = clears + 1
    /\ call' = [op |-> "clear", kind |-> "cleared"]

(***************************************************************************)
(* Actions of a reader                                                     *)
(***************************************************************************)
\* [OS-20] The newest handle of a key whose chunk is in place; each reader owes one read for each reference.
Read(key, reader) ==
    /\ IsStored(key)
    /\ chunks[Place(key)].reads < chunks[Place(key)].references * Readers
    /\ chunks' = [chunks EXCEPT ![Place(key)].reads = @ + 1]
    /\ UNCHANGED <<begin, end, nextId, stale, clears>>
    /\ call' = [op |-> "get", key |-> key, reader |-> reader, kind |-> "read"]

\* [OS-21] [OS-22] What now lies at the place of a handle whose chunk is gone.
NowAt(handle) ==
    LET here == InArea(handle.begin)
        first == Least({i \in DOMAIN chunks :
                            \/ InArea(chunks[i].begin) = here
                            \/ InArea(chunks[i].begin) + Header = here /\ chunks[i].reads = handle.id}, 0)
    IN  CASE ~handle.isOverwritten -> "gone"
          [] handle.isOverwritten /\ first = 0 -> "overwritten"
          [] OTHER -> IF InArea(chunks[first].begin) = here THEN "replaced" ELSE "looks_alike"

\* [OS-21] [OS-22] It changes nothing, whatever lies there.
ReadStale(key, reader) ==
    /\ ~IsStored(key)
    /\ \E handle \in stale[key] :
        /\ UNCHANGED view
        /\ call' = [op |-> "get", key |-> key, reader |-> reader, kind |-> NowAt(handle)]

(***************************************************************************)
(* What is tried                                                           *)
(***************************************************************************)
\* The contents at the limit of an object, and beyond it.
Largest == MaxObjectSize + Header - Overhead

Contents == Sizes \cup {Largest, Largest + 1}

Next ==
    \/ \E key \in Keys :
        \/ \E nbytes \in Contents : Put(key, nbytes) \/ RefusePut(key, nbytes) \/ BlockPut(key, nbytes)
        \/ \E reader \in 0..(Readers - 1) : Read(key, reader) \/ ReadStale(key, reader)
        \/ GetCached(key)
        \/ Touch(key)
    \/ ReleaseTouches
    \/ FreeUnused
    \/ Clear

(***************************************************************************)
(* Specification                                                           *)
(***************************************************************************)
Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Invariants                                                              *)
(***************************************************************************)
TypeOK ==
    /\ chunks \in Seq(Chunk)
    /\ begin \in 0..(Capacity - 1)
    /\ end \in 0..(2 * Capacity - 1)
    /\ nextId \in Nat
    /\ stale \in [Keys -> SUBSET Handle]
    /\ clears \in 0..MostClears

\* [RB-22] [OS-30] Chunks lie apart, and each key has one.
Sound ==
    /\ AreApart(chunks)
    /\ Cardinality(KeysOf(chunks)) = Len(chunks)
    /\ chunks # <<>> => begin = InArea(chunks[1].begin)

\* [OS-32] No more reads than references were handed out for.
ReadsAreOwed == \A i \in DOMAIN chunks : chunks[i].reads <= chunks[i].references * Readers

\* [OS-29] Ids are in the order of the puts, and a stale handle has none of a chunk.
IdsGoOn ==
    /\ \A i \in DOMAIN chunks : chunks[i].id < nextId /\ (i > 1 => chunks[i - 1].id < chunks[i].id)
    /\ \A key \in Keys : \A handle \in stale[key] : \A i \in DOMAIN chunks : chunks[i].id # handle.id

(***************************************************************************)
(* Properties of steps                                                     *)
(***************************************************************************)
IdsIn(list) == {list[i].id : i \in DOMAIN list}

\* [OS-25] What is touched, or not yet read by everybody for whom there is a reference.
HeldIn(list) ==
    IdsIn(SelectSeq(list, LAMBDA chunk : chunk.isTouched \/ chunk.reads < chunk.references * Readers))

\* [OS-31] What is not free stays, whatever is put meanwhile.
PromiseKept == [][call'.op # "clear" => HeldIn(chunks) \subseteq IdsIn(chunks')]_vars

\* [OS-27] What leaves is a prefix.
OrderKept ==
    [][LET kept == IdsIn(chunks) \cap IdsIn(chunks')
       IN  \A i, j \in DOMAIN chunks : i < j /\ chunks[i].id \in kept => chunks[j].id \in kept]_vars

\* [OS-05] A put is refused for lack of room only if the oldest chunk is not free.
RefusedRightly == [][call'.kind = "blocked" => chunks' # <<>> /\ chunks'[1].id \in HeldIn(chunks')]_vars

\* [OS-02] [OS-03] [OS-06] [OS-11] [OS-21] What is refused changes nothing.
RefusedChangesNothing ==
    [][call'.kind \in {"duplicate", "too_large", "never_fits", "miss", "held", "gone", "replaced", "overwritten",
                       "looks_alike"} => UNCHANGED view]_vars

\* [OS-14] A touch, and its end, change no reference and no count.
TouchIsNoReference ==
    [][call'.op \in {"touch", "release_touches"} =>
        /\ Len(chunks') = Len(chunks)
        /\ \A i \in DOMAIN chunks :
            chunks'[i].references = chunks[i].references /\ chunks'[i].reads = chunks[i].reads]_vars

\* [OS-33] When all is free, the ring can be reclaimed by one call after the other.
Reclaimable ==
    [][call'.op = "free_unused" /\ HeldIn(chunks) = {} /\ chunks # <<>> => Len(chunks') < Len(chunks)]_vars

\* [OS-28] [OS-29] A clear forgets all chunks and no id.
ClearForgets == [][call'.op = "clear" => chunks' = <<>> /\ nextId' = nextId]_vars
=============================================================================
