----------------------------- MODULE RingBuffer -----------------------------
(***************************************************************************)
(* The single-writer ring buffer: where chunks go, and which leave.        *)
(*                                                                         *)
(* spec/06-ring-buffer.md says what must hold;                             *)
(* mmcache_ref/model/ring_buffer.py and ring_moves.py are the same model   *)
(* in Python.  One action is one call of the writer.  Payloads, segments,  *)
(* readers, and calls that only read are left out.                         *)
(***************************************************************************)
EXTENDS RingPlacement

(***************************************************************************)
(* Constants; Capacity is one of RingPlacement                             *)
(***************************************************************************)
CONSTANTS
    IdMax,     \* ids are 0 .. IdMax - 1, and wrap
    Sizes      \* the bytes of the payloads that are tried

None == -1   \* no limit; no id

ASSUME /\ IdMax \in Nat \ {0}
       /\ Sizes \subseteq Nat \ {0}

(***************************************************************************)
(* Variables                                                               *)
(*                                                                         *)
(*   TLA+     Python model         reference: SingleWriterShmRingBuffer    *)
(*   chunks   State.ring.chunks    metadata, _sizes                        *)
(*   begin    State.ring.begin     data_buffer_start                       *)
(*   end      State.ring.end       data_buffer_end                         *)
(*   nextId   State.ring.next_id   monotonic_id_end                        *)
(*   call     Operation, Outcome   the call itself                         *)
(***************************************************************************)
VARIABLES
    chunks,  \* <<[id, begin, size], ...>>, the oldest first; `begin` is a virtual address
    begin,   \* the virtual address where the oldest chunk begins
    end,     \* the virtual address behind the newest chunk
    nextId,  \* the id that the next chunk gets
    call     \* the call that was just made, its kind and what it gave; no action reads it

view == <<chunks, begin, end, nextId>>
vars == <<chunks, begin, end, nextId, call>>

Chunk == [id : 0..(IdMax - 1), begin : 0..(2 * Capacity - 1), size : (Header + 1)..Capacity]

(***************************************************************************)
(* Placement                                                               *)
(***************************************************************************)
\* The free bytes before the physical end of the area, and those behind it.
FreeHere == FreeInLap(begin, end)
FreeInNextLap == FreeBehindLap(begin, end)

\* [RB-06]
HasRoom(size) == Fits(begin, end, size)

\* [RB-05]
Address(size) == Placed(begin, end, size)

LiveIds == {chunks[i].id : i \in DOMAIN chunks}

(***************************************************************************)
(* Reclaiming                                                              *)
(***************************************************************************)
\* The bytes of the first `count` chunks, counted whole.
BytesOf(count) == Sum([i \in 1..count |-> chunks[i].size])

\* [RB-16] [RB-17] Is chunk i asked for, when all before it were free?
IsAsked(i, nbytes) == nbytes = None \/ BytesOf(i - 1) < nbytes

\* [RB-16] [RB-24] The first chunk that is not free, or not asked for, ends the call.
Freed(nbytes, held) ==
    LET stops == {i \in DOMAIN chunks : ~IsAsked(i, nbytes) \/ chunks[i].id = held}
    IN  IF stops = {} THEN Len(chunks) ELSE (CHOOSE i \in stops : \A j \in stops : i <= j) - 1

\* How many chunks are shown to `is_free`.
Asked(nbytes, held) ==
    LET freed == Freed(nbytes, held)
    IN  IF freed < Len(chunks) /\ IsAsked(freed + 1, nbytes) THEN freed + 1 ELSE freed

Rest(count) == SubSeq(chunks, count + 1, Len(chunks))

\* [RB-20]
BeginOf(rest) == BeginBefore(rest)
EndOf(rest) == BeginOf(rest) + Sum([i \in DOMAIN rest |-> Held(rest, i)])

IdsOf(count) == [i \in 1..count |-> chunks[i].id]

\* What `free_buf` did: what ended it, or that nothing did.
KindOfFree(nbytes, held) ==
    LET freed == Freed(nbytes, held)
    IN  CASE chunks = <<>> -> "nothing"
          [] chunks # <<>> /\ nbytes = 0 -> "no-bytes"
          [] chunks # <<>> /\ nbytes # 0 /\ Len(chunks) = IdMax -> "all-ids-live"
          [] OTHER -> CASE freed = Len(chunks) -> "all"
                        [] freed < Len(chunks) /\ Asked(nbytes, held) = freed -> "limited"
                        [] OTHER -> IF freed > 0 THEN "freed" ELSE "held"

(***************************************************************************)
(* Actions of the writer                                                   *)
(***************************************************************************)
Init ==
    /\ chunks = <<>>
    /\ begin = 0
    /\ end = 0
    /\ nextId = 0
    /\ call = [op |-> "initial"]

\* [RB-10] Ids wrap.
Successor(id) == (id + 1) % IdMax

\* [RB-11]
NextIdIsLive == nextId \in LiveIds

\* What an allocation comes to, in the order in which it is asked.
KindOfAllocation(nbytes) ==
    CASE nbytes <= 0 -> "no-bytes"
      [] nbytes > 0 /\ ~HasRoom(nbytes + Header) -> "no-room"
      [] nbytes > 0 /\ HasRoom(nbytes + Header) /\ NextIdIsLive -> "id-live"
      [] OTHER -> IF Address(nbytes + Header) = end THEN "allocated" ELSE "after-gap"

\* [RB-05] [RB-07] [RB-10]
Allocate(nbytes) ==
    /\ KindOfAllocation(nbytes) \in {"allocated", "after-gap"}
    /\ chunks' = Append(chunks, [id    |-> nextId,
                                 begin |-> Address(nbytes + Header),
                                 size  |-> nbytes + Header])
    /\ begin' = begin
    /\ end' = Address(nbytes + Header) + nbytes + Header
    /\ nextId' = Successor(nextId)
    /\ call' = [op |-> "allocate", nbytes |-> nbytes, kind |-> KindOfAllocation(nbytes),
                gives |-> <<Address(nbytes + Header), nextId>>]

\* [RB-06] [RB-08] [RB-11] What is refused changes nothing.
RefuseAllocation(nbytes) ==
    /\ KindOfAllocation(nbytes) \in {"no-bytes", "no-room", "id-live"}
    /\ UNCHANGED view
    /\ call' = [op |-> "allocate", nbytes |-> nbytes, kind |-> KindOfAllocation(nbytes), gives |-> <<>>]

\* [RB-16] [RB-17] [RB-18] [RB-20] `is_free` is false of the chunk `held`.
Free(nbytes, held) ==
    /\ chunks' = Rest(Freed(nbytes, held))
    /\ begin' = IF Freed(nbytes, held) = 0 THEN begin ELSE BeginOf(chunks')
    /\ end' = IF Freed(nbytes, held) = 0 THEN end ELSE EndOf(chunks')
    /\ nextId' = nextId
    /\ call' = [op |-> "free", nbytes |-> nbytes, refuses |-> held, kind |-> KindOfFree(nbytes, held),
                gives |-> IdsOf(Freed(nbytes, held))]

\* [RB-19] `is_free` raises when it is shown the chunk `raising`: all is as if the call had not been made.
FreeRaises(raising) ==
    /\ raising \in LiveIds
    /\ UNCHANGED view
    /\ call' = [op |-> "free", raises |-> raising, kind |-> "raised", gives |-> <<>>]

\* [RB-21] Ids go on.
Clear ==
    /\ chunks' = <<>>
    /\ begin' = 0
    /\ end' = 0
    /\ nextId' = nextId
    /\ call' = [op |-> "clear", kind |-> "cleared", gives |-> <<>>]

(***************************************************************************)
(* What is tried                                                           *)
(***************************************************************************)
\* The payload of the smallest chunk that fits into no free stretch.
OneOver == Max(1, Max(FreeHere, FreeInNextLap) - Header + 1)

Payloads == Sizes \cup {OneOver, 0, -1}

\* No limit, none at all; and what the oldest chunks have, just so and one byte more.
Limits == {None, 0} \cup (IF chunks = <<>> THEN {} ELSE {1})
              \cup {BytesOf(count) : count \in 1..(Len(chunks) - 1)}
              \cup {BytesOf(count) + 1 : count \in 1..(Len(chunks) - 1)}

Next ==
    \/ \E nbytes \in Payloads : Allocate(nbytes) \/ RefuseAllocation(nbytes)
    \/ \E nbytes \in Limits : Free(nbytes, None)
    \/ \E i \in DOMAIN chunks : Free(None, chunks[i].id)
    \/ \E i \in 2..Len(chunks) : FreeRaises(chunks[i].id)
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
    /\ nextId \in 0..(IdMax - 1)

\* [RB-22]
Apart == AreApart(chunks)

\* The bytes that are left unused behind chunk i.
Gap(i) == Held(chunks, i) - chunks[i].size

\* [RB-23] Chunks, the gap and what is free make up the capacity; the gap is smaller than the chunk behind it.
AllAccounted ==
    LET gaps == {i \in 1..(Len(chunks) - 1) : Gap(i) > 0}
    IN  /\ BytesOf(Len(chunks)) + Sum([i \in 1..Len(chunks) |-> Gap(i)]) + FreeHere + FreeInNextLap = Capacity
        /\ Cardinality(gaps) <= 1
        /\ \A i \in gaps : Gap(i) < chunks[i + 1].size

\* [RB-20] Begin is the place of the oldest chunk; end is at most the capacity behind it.
BeginInFirstLap ==
    IF chunks = <<>>
    THEN begin = 0 /\ end = 0
    ELSE begin = InArea(chunks[1].begin) /\ begin < end /\ end <= begin + Capacity

\* [RB-11]
IdsDiffer == Cardinality(LiveIds) = Len(chunks)

(***************************************************************************)
(* Properties of steps                                                     *)
(***************************************************************************)
Allocated == {"allocated", "after-gap"}

\* A call that frees, and whose `is_free` does not raise.
IsFreeing == call'.op = "free" /\ call'.kind # "raised"

\* [RB-10] Each id is the successor of the last; what is refused takes none.
IdsInOrder ==
    [][nextId' = (nextId + (IF call'.kind \in Allocated THEN 1 ELSE 0)) % IdMax]_vars

\* [RB-18] [RB-24] What leaves is a prefix, and its ids are given in order.
OldestLeaveFirst ==
    [][call'.op = "free" =>
        /\ Len(chunks') <= Len(chunks)
        /\ chunks' = SubSeq(chunks, Len(chunks) - Len(chunks') + 1, Len(chunks))
        /\ call'.gives = IdsOf(Len(chunks) - Len(chunks'))]_vars

\* [RB-06] What is refused for lack of room is larger than both stretches that are free in the area.
RefusedRightly ==
    [][call'.kind = "no-room" =>
        \A place \in 0..(Capacity - call'.nbytes - Header) :
            \E i \in DOMAIN chunks :
                LET from == InArea(chunks[i].begin)
                IN  place < from + Held(chunks, i) /\ from < place + call'.nbytes + Header]_vars

\* [RB-08] [RB-11] [RB-19] What is refused changes nothing.
RefusedChangesNothing ==
    [][call'.kind \in {"no-bytes", "no-room", "id-live", "raised", "nothing", "held"} => UNCHANGED view]_vars

\* [RB-25] When every chunk is free, the whole ring is reclaimed.
AllReclaimed ==
    [][IsFreeing /\ call'.nbytes = None /\ call'.refuses = None
        => chunks' = <<>> /\ begin' = 0 /\ end' = 0]_vars

\* [RB-21] A clear forgets every chunk.
ClearForgets == [][call'.op = "clear" => chunks' = <<>> /\ end' = 0]_vars

\* [RB-16] A chunk that is not free stays.
HeldStays ==
    [][IsFreeing /\ call'.refuses \in LiveIds
        => call'.refuses \in {chunks'[i].id : i \in DOMAIN chunks'}]_vars

\* [RB-17] No chunk is freed beyond what was asked for.
NoMoreThanAsked ==
    [][IsFreeing /\ call'.nbytes # None =>
        \A count \in 1..(Len(chunks) - Len(chunks')) : BytesOf(count - 1) < call'.nbytes]_vars
=============================================================================
