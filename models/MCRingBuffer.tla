---------------------------- MODULE MCRingBuffer ----------------------------
(* RingBuffer as TLC checks it: the graph written out, and rules that are broken on purpose. *)
EXTENDS RingBuffer, Graph

\* An action constraint that writes the graph.
Edge == EdgeIsWritten(view, call', view')

(***************************************************************************)
(* Twins: each .cfg that must fail puts one of these in a rule's place.    *)
(***************************************************************************)
\* For Successor: ids do not wrap.
SuccessorWithoutEnd(id) == id + 1

\* For Successor: every second id is left out.
SuccessorButOne(id) == (id + 2) % IdMax

\* For NextIdIsLive: nobody looks.
NeverLive == FALSE

\* For Address: the physical end is not looked at.
AddressAtEnd(size) == end

\* For Address: the next lap is taken wherever it has room.
AddressInNextLap(size) == IF size <= FreeInNextLap THEN LapEnd(end) ELSE end

\* For HasRoom: the next lap is forgotten.
HasRoomHere(size) == size <= FreeHere

\* For BeginOf: begin stays in the lap in which the chunk was handed out.
BeginAsHandedOut(rest) == IF rest = <<>> THEN 0 ELSE rest[1].begin

\* For EndOf: the end alone comes back from the second lap (S10). It goes with BeginAsHandedOut.
EndBroughtBack(rest) == InArea(BeginOf(rest)) + Sum([i \in DOMAIN rest |-> Held(rest, i)])

\* For Rest: the newest leave.
RestOfTheOldest(count) == SubSeq(chunks, 1, Len(chunks) - count)

\* For Freed: what is held is passed over.
FreedOverHeld(nbytes, held) == Len(chunks)

\* For Freed: the newest chunk always stays.
FreedButTheNewest(nbytes, held) == Max(Len(chunks) - 1, 0)

\* For IsAsked: one chunk too many where the limit is met exactly.
IsAskedOnceMore(i, nbytes) == nbytes = None \/ BytesOf(i - 1) <= nbytes

\* For RefuseAllocation: an id is lost.
RefuseAndTakeId(nbytes) ==
    /\ KindOfAllocation(nbytes) = "no-room"
    /\ UNCHANGED <<chunks, begin, end>>
    /\ nextId' = Successor(nextId)
    /\ call' = [op |-> "allocate", nbytes |-> nbytes, kind |-> "no-room", gives |-> <<>>]

\* For Clear: the end stays where it was.
ClearButKeepEnd ==
    /\ chunks' = <<>>
    /\ UNCHANGED <<begin, end, nextId>>
    /\ call' = [op |-> "clear", kind |-> "cleared", gives |-> <<>>]
=============================================================================
