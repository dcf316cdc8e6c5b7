------------------------------ MODULE ShmStore ------------------------------
(* The store in shared memory as P0's cache uses it, in units: put, look up, acknowledge, clear. As functions of
   values: a store is [ring, entries]; `entries[n]` lies in `ring.chunks[n]`, the oldest first.

   chunk   [id, begin, size]                          begin: its virtual address, as it was handed out
   ring    [chunks, begin, end, next_id]
   entry   [key, content, references, acknowledged]
   handle  [key, id, begin]

   TLA+                    Python model                 reference
   PlaceFor, Allocated     ring_moves.place, allocate   SingleWriterShmRingBuffer.allocate_buf
   DropOldest              ring_moves.drop_oldest       SingleWriterShmRingBuffer.free_buf
   LookedUp, Put           shm_store.look_up, put       SingleWriterShmObjectStorage.get_cached, put
   Acknowledged, Cleared   shm_store.acknowledge, clear SingleWriterShmObjectStorage.get, clear     *)
EXTENDS RingPlacement

CONSTANTS      \* besides Capacity, the units of the ring
    Limit,     \* units of the largest item that is stored
    Workers,   \* how many read each handle
    None       \* no value

-----------------------------------------------------------------------------
(* The ring *)

EmptyRing(nextId) == [chunks |-> <<>>, begin |-> 0, end |-> 0, next_id |-> nextId]

\* [RB-05] [RB-06] The virtual address of a chunk of so many units; None where there is no room.
PlaceFor(ring, size) == IF Fits(ring.begin, ring.end, size) THEN Placed(ring.begin, ring.end, size) ELSE None

\* [RB-06] [RB-07] [RB-10]
Allocated(ring, size) ==
    LET begin == PlaceFor(ring, size)
    IN  [chunks |-> Append(ring.chunks, [id |-> ring.next_id, begin |-> begin, size |-> size]),
         begin |-> ring.begin, end |-> begin + size, next_id |-> ring.next_id + 1]

\* [RB-20] [RB-21] The ring without its oldest chunks.
DropOldest(ring, count) ==
    LET chunks == SubSeq(ring.chunks, count + 1, Len(ring.chunks))
    IN  IF count = 0 THEN ring
        ELSE [ring EXCEPT !.chunks = chunks, !.begin = BeginBefore(chunks), !.end = EndBehind(chunks)]

-----------------------------------------------------------------------------
(* The store *)

EmptyStore(nextId) == [ring |-> EmptyRing(nextId), entries |-> <<>>]

\* [SC-07] Where the key is among the entries, if anywhere.
Stored(store) == {store.entries[place].key : place \in DOMAIN store.entries}
PlaceOf(store, key) == CHOOSE place \in DOMAIN store.entries : store.entries[place].key = key

HandleAt(store, place) ==
    [key |-> store.entries[place].key, id |-> store.ring.chunks[place].id, begin |-> store.ring.chunks[place].begin]

\* [SC-23] The place of the entry that a handle names: a set of one, or empty when its chunk is gone.
Holder(store, handle) == {place \in DOMAIN store.ring.chunks : store.ring.chunks[place].id = handle.id}

\* [OS-25] Every worker has acknowledged every reference.
IsFree(entry) == entry.acknowledged >= entry.references * Workers

\* [SC-03] A hit: one more reference.
LookedUp(store, place) == [store EXCEPT !.entries[place].references = @ + 1]

\* [OS-05] [OS-06] How many of the oldest chunks leave: up to the first that may not, or until so many units have left.
RECURSIVE Leaving(_, _, _, _)
Leaving(store, touched, count, units) ==
    IF units <= 0 \/ count = Len(store.entries) THEN count
    ELSE IF store.entries[count + 1].key \in touched \/ ~IsFree(store.entries[count + 1]) THEN count
    ELSE Leaving(store, touched, count + 1, units - store.ring.chunks[count + 1].size)

IsTooLarge(units) == units > Limit \/ units > Capacity

\* [OS-03] [OS-04] [SC-02] [SC-05] [SC-36] [SC-37] A new item, and what became of it.
Put(store, touched, key, content) ==
    LET size == content.nbytes
        gone == IF PlaceFor(store.ring, size) = None THEN Leaving(store, touched, 0, 2 * Limit) ELSE 0
        ring == DropOldest(store.ring, gone)
        left == SubSeq(store.entries, gone + 1, Len(store.entries))
        entry == [key |-> key, content |-> content, references |-> 1, acknowledged |-> 0]
    IN  IF IsTooLarge(size) THEN [store |-> store, kind |-> "too-large"]
        ELSE IF PlaceFor(ring, size) = None THEN [store |-> [ring |-> ring, entries |-> left], kind |-> "no-room"]
        ELSE [store |-> [ring |-> Allocated(ring, size), entries |-> Append(left, entry)], kind |-> "put"]

\* [SC-19] [SC-23] One worker reads these handles: the entries after it, and the keys of those whose chunk is gone.
RECURSIVE Acknowledged(_, _)
Acknowledged(store, handles) ==
    IF handles = <<>> THEN [store |-> store, gone |-> <<>>]
    ELSE LET handle == Head(handles)
             isGone == Holder(store, handle) = {}
             place == CHOOSE each \in Holder(store, handle) : TRUE
             after == IF isGone THEN store ELSE [store EXCEPT !.entries[place].acknowledged = @ + 1]
             rest == Acknowledged(after, Tail(handles))
         IN  [store |-> rest.store, gone |-> (IF isGone THEN <<handle.key>> ELSE <<>>) \o rest.gone]

\* [SC-12] Nothing is stored any more; ids go on.
Cleared(store) == EmptyStore(store.ring.next_id)
=============================================================================
