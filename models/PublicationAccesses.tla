------------------------- MODULE PublicationAccesses -------------------------
(***************************************************************************)
(* Single accesses to one place of the segment: what the writer and a      *)
(* reader do, and which access a machine may do before which.              *)
(*                                                                         *)
(* spec/07-object-store.md, "Which orders are safe", says what is kept;    *)
(* mmcache_ref/model/publication_programs.py, publication_accesses.py and  *)
(* publication_environment.py are the same in Python.                      *)
(*                                                                         *)
(*   TLA+           Python model              reference                    *)
(*   WriterLine     writing                   SingleWriterShmObjectStorage *)
(*   ReaderLine     reading                   .put, .get                   *)
(*   IsOrdered      is_ordered                the processor                *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

(***************************************************************************)
(* Constants                                                               *)
(***************************************************************************)
CONSTANTS
    Reads,       \* <<{handles}, ...>>: what each reader gets, each handle once; "a" is the old object, "b" the new
    Accidents,   \* what the machine and the others do
    Protections  \* the rules that are kept

Readers == DOMAIN Reads

ASSUME /\ \A reader \in Readers : Reads[reader] \subseteq {"a", "b"}
       /\ Accidents \subseteq {"clear-meanwhile", "early-handle", "load-reordering", "look-alike", "stale-handle",
                               "store-reordering"}
       /\ Protections \subseteq {"barrier-after-copy", "barrier-after-wipe", "barrier-before-copy",
                                 "barrier-before-seal", "check-under-lock", "count-last", "count-under-lock",
                                 "drained-clear", "handle-last", "seal-last", "seals", "second-check",
                                 "validated-handle", "wipe", "writer-takes-lock"}

Kept(protection) == protection \in Protections
When(condition, line) == IF condition THEN line ELSE <<>>

(***************************************************************************)
(* Conditions                                                              *)
(***************************************************************************)
\* [OS-29] [SC-41] The writer waits for no reader.
Clears == "clear-meanwhile" \in Accidents /\ ~Kept("drained-clear")

\* [OS-21] [SC-43] The reader whose handle of the old object has no reference; 0 if every one has.
StaleReader == IF "stale-handle" \in Accidents /\ ~Kept("validated-handle") THEN Len(Reads) ELSE 0

\* [OS-25] The reads of the old object that the writer waits for.
References == Cardinality({reader \in Readers \ {StaleReader} : "a" \in Reads[reader]})

\* [OS-42] How the new object may lie in the place.
Layouts == {"same"} \cup (IF "look-alike" \in Accidents THEN {"look-alike"} ELSE {})

(***************************************************************************)
(* Accesses; parts of one copy come in any order on every machine          *)
(***************************************************************************)
Access(kind, word, value, copied) == [kind |-> kind, word |-> word, value |-> value, copied |-> copied]
Load(word) == Access("load", word, "", FALSE)
Store(word, value) == Access("store", word, value, FALSE)
Copied(access) == [access EXCEPT !.copied = TRUE]
Plain(kind) == Access(kind, "", "", FALSE)

Barrier == Plain("barrier")

(***************************************************************************)
(* The writer                                                              *)
(***************************************************************************)
\* [OS-26] The old seal goes before the place is used again.
Wipe ==
    LET wiped == <<Store("seal", "")>> \o When(Kept("barrier-after-wipe"), <<Barrier>>)
    IN  CASE ~(Kept("seals") /\ Kept("wipe")) -> <<>>
          [] Kept("seals") /\ Kept("wipe") /\ Kept("writer-takes-lock") ->
                <<Plain("acquire")>> \o wiped \o <<Plain("release")>>
          [] OTHER -> wiped

\* [OS-08] [RB-29] Header, count and payload, then the seal, then the handle.
Order ==
    <<"header">> \o When(~Kept("seal-last"), <<"seal">>) \o When(~Kept("handle-last"), <<"handle">>)
    \o <<"count", "payload">> \o When(Kept("seal-last"), <<"seal">>) \o When(Kept("handle-last"), <<"handle">>)

PlaceOf(piece) == CHOOSE place \in DOMAIN Order : Order[place] = piece

\* [OS-08] What a put writes; zeros in place of a seal that is still to come.
Piece(piece) ==
    CASE piece = "header"  -> <<Store("id", "b"), Store("size", "b")>>
      [] piece = "count"   -> <<Store("reader_count", "b")>>
      [] piece = "payload" -> When(Kept("seals") /\ PlaceOf("payload") < PlaceOf("seal"), <<Store("seal", "")>>)
                              \o <<Copied(Store("first", "b")), Copied(Store("last", "b"))>>
      [] piece = "seal"    -> When(Kept("seals") /\ Kept("barrier-before-seal"), <<Barrier>>)
                              \o When(Kept("seals"), <<Store("seal", "b")>>)
      [] piece = "handle"  -> <<Plain("send")>>

Put == Piece(Order[1]) \o Piece(Order[2]) \o Piece(Order[3]) \o Piece(Order[4]) \o Piece(Order[5])

\* [OS-42] A payload whose bytes are the old header, some count, and no seal that anybody could know.
LookAlike ==
    <<Copied(Store("id", "a")), Copied(Store("size", "a")), Copied(Store("reader_count", "b")),
      Copied(Store("seal", "?")), Copied(Store("first", "b")), Copied(Store("last", "b"))>>

\* [OS-25] Wait until every read is counted, wipe, put.
WriterLine(layout) ==
    When(~Clears, <<Access("await", "reader_count", "", FALSE)>>) \o Wipe \o (IF layout = "look-alike" THEN LookAlike ELSE Put)

(***************************************************************************)
(* A reader                                                                *)
(***************************************************************************)
\* [OS-21] [OS-22]
Compare == <<Load("id"), Load("size")>> \o When(Kept("seals"), <<Load("seal")>>)

Copy ==
    When(Kept("barrier-before-copy"), <<Barrier>>) \o <<Copied(Load("first")), Copied(Load("last"))>>
    \o When(Kept("barrier-after-copy"), <<Barrier>>)

\* [OS-20] [OS-23] Compare again and count, under the lock.
Count ==
    LET again == When(Kept("second-check"), Compare)
        add == <<Load("reader_count"), Store("reader_count", "")>>
    IN  CASE ~Kept("count-under-lock") -> again \o add
          [] Kept("count-under-lock") /\ Kept("check-under-lock") ->
                <<Plain("acquire")>> \o again \o add \o <<Plain("release")>>
          [] OTHER -> again \o <<Plain("acquire")>> \o add \o <<Plain("release")>>

\* [OS-23] A reader counts after it has copied.
ReaderLine == Compare \o (IF Kept("count-last") THEN Copy \o Count ELSE Count \o Copy)

(***************************************************************************)
(* The machine                                                             *)
(***************************************************************************)
(* What follows "acquire" stays behind it, and what precedes "release" before it; the other way nothing is
   promised. A load and a store of one process stay in order: what is stored depends on what was loaded. *)
IsOrdered(earlier, later) ==
    LET kinds == {earlier.kind, later.kind}
    IN  \/ kinds \cap {"await", "send"} # {}
        \/ earlier.kind = "acquire" \/ later.kind = "release"
        \/ earlier.kind = "release" /\ later.kind = "acquire"
        \/ {"load", "store"} \subseteq kinds
        \/ earlier.word # "" /\ earlier.word = later.word
        \/ /\ ~(earlier.copied /\ later.copied)
           /\ (IF "load" \in kinds THEN "load-reordering" ELSE "store-reordering") \notin Accidents

IsAccess(access) == access.kind # "barrier"

\* A line without its barriers.
Accesses(line) == SelectSeq(line, IsAccess)

\* For each of the accesses the places of those that it waits for.
WaitsFor(line) ==
    LET All == {i \in DOMAIN line : IsAccess(line[i])}
        PlaceAt(i) == Cardinality({j \in All : j <= i})
        Waits(i) == {j \in All : j < i /\ (IsOrdered(line[j], line[i]) \/ \E k \in j..i : line[k] = Barrier)}
    IN  [place \in 1..Cardinality(All) |->
            {PlaceAt(j) : j \in Waits(CHOOSE i \in All : PlaceAt(i) = place)}]
=============================================================================
