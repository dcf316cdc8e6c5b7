--------------------------- MODULE RingPlacement ----------------------------
(***************************************************************************)
(* Where chunks lie in a ring, as functions on numbers: what RingBuffer,   *)
(* ObjectStore and ShmStore have in common. ShmStore counts in units, and  *)
(* has no headers.                                                         *)
(*                                                                         *)
(*   virtual   0 ........ Capacity ........ 2 * Capacity                   *)
(*   free      end .. begin + Capacity, in one lap or in two               *)
(*                                                                         *)
(* mmcache_ref/model/ring_moves.py is the same in Python.                  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANT Capacity  \* the bytes of the data area

ASSUME Capacity \in Nat \ {0}

Header == 8  \* bytes before each payload: id and size of the chunk

Min(one, other) == IF one <= other THEN one ELSE other
Max(one, other) == IF one >= other THEN one ELSE other

Sum(numbers) ==
    LET upTo[i \in 0..Len(numbers)] == IF i = 0 THEN 0 ELSE upTo[i - 1] + numbers[i]
    IN  upTo[Len(numbers)]

\* Where a virtual address lies in the area.
InArea(address) == address % Capacity

\* Where the lap of an address ends.
LapEnd(address) == address - InArea(address) + Capacity

\* The free bytes before the physical end of the area, and those behind it.
FreeInLap(begin, end) == Min(LapEnd(end), begin + Capacity) - end
FreeBehindLap(begin, end) == Max(begin + Capacity - LapEnd(end), 0)

\* [RB-06]
Fits(begin, end, size) == size <= FreeInLap(begin, end) \/ size <= FreeBehindLap(begin, end)

\* [RB-05] A chunk never straddles the physical end; the gap in front of it is wasted.
Placed(begin, end, size) == IF size <= FreeInLap(begin, end) THEN end ELSE LapEnd(end)

\* What a chunk holds: its bytes, and the gap up to the one behind it.
Held(chunks, i) ==
    IF i = Len(chunks)
    THEN chunks[i].size
    ELSE LET behind == InArea(chunks[i + 1].begin) - InArea(chunks[i].begin)
         IN  IF behind > 0 THEN behind ELSE behind + Capacity

\* [RB-20] Begin is the place of the oldest chunk, in the first lap; end is behind all that the chunks hold.
BeginBefore(chunks) == IF chunks = <<>> THEN 0 ELSE InArea(chunks[1].begin)
EndBehind(chunks) == BeginBefore(chunks) + Sum([i \in DOMAIN chunks |-> Held(chunks, i)])

\* Do two chunks share a byte?
Overlap(one, other) ==
    /\ InArea(one.begin) < InArea(other.begin) + other.size
    /\ InArea(other.begin) < InArea(one.begin) + one.size

\* [RB-22] Chunks lie within the area and apart from each other.
AreApart(chunks) ==
    /\ \A i \in DOMAIN chunks : InArea(chunks[i].begin) + chunks[i].size <= Capacity
    /\ \A i, j \in DOMAIN chunks : i # j => ~Overlap(chunks[i], chunks[j])
=============================================================================
