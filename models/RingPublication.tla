--------------------------- MODULE RingPublication ---------------------------
(***************************************************************************)
(* One place of the segment, word by word, while a writer uses it again.   *)
(*                                                                         *)
(* spec/07-object-store.md says what must hold;                            *)
(* mmcache_ref/model/ring_publication.py is the same model in Python.  An  *)
(* old object "a" lies there, complete, and the writer puts "b" in its     *)
(* place; "?" is a word that a client chose.  One action is one load or    *)
(* store, or one move of the lock, of one process.                         *)
(***************************************************************************)
EXTENDS Integers, PublicationAccesses

Writer == 0     \* readers are 1, 2, ...
Nobody == -1
NotLoaded == -1

(***************************************************************************)
(* Variables                                                               *)
(*                                                                         *)
(*   TLA+          Python model          reference                         *)
(*   memory        State.memory          the bytes of a chunk              *)
(*   gets          State.gets            calls of get under way            *)
(*   used          State.used                                              *)
(*   layout        State.layout          where the next chunk begins       *)
(*   written       State.written         a call of put under way           *)
(*   isSent        State.is_sent         the handle is on its way          *)
(*   lock          State.lock            the readers' lock                 *)
(*   acknowledged  State.acknowledged                                      *)
(*   call          Operation, Outcome    the access itself                 *)
(***************************************************************************)
VARIABLES
    memory,        \* what every process would see now: of each word, whose it is; "" is a seal that was wiped
    gets,          \* for each reader the get under way, or Idle
    used,          \* for each reader the handles that it has used, in order
    layout,        \* how the new object lies in the place; "" before that is chosen
    written,       \* the places of the writer's accesses that are done
    isSent,        \* the handle of the new object was handed out
    lock,          \* who has the readers' lock
    acknowledged,  \* how many gets of the old and of the new object have counted
    call           \* the access that was just done, and what came of it; no action reads it

view == <<memory, gets, used, layout, written, isSent, lock, acknowledged>>
vars == <<memory, gets, used, layout, written, isSent, lock, acknowledged, call>>

Owners == {"a", "b"}
CountWord == [owner : Owners, number : 0..(2 * Len(Reads))]

(* A get under way: its handle, whether it must succeed, the places of the accesses that are done, whose bytes
   were copied so far, and the number that was loaded and not yet stored. *)
GetOf(handle, promised) ==
    [handle |-> handle, is_promised |-> promised, done |-> {}, parts |-> {}, loaded_count |-> NotLoaded]
Idle == GetOf("", FALSE)

IsGetting(reader) == gets[reader].handle # ""

(***************************************************************************)
(* Programs, made once                                                     *)
(***************************************************************************)
WriterAccesses == [each \in Layouts |-> Accesses(WriterLine(each))]
WriterWaits == [each \in Layouts |-> WaitsFor(WriterLine(each))]
ReaderAccesses == Accesses(ReaderLine)
ReaderWaits == WaitsFor(ReaderLine)

(***************************************************************************)
(* Actions of the writer                                                   *)
(***************************************************************************)
Init ==
    /\ memory = [id |-> "a", size |-> "a", reader_count |-> [owner |-> "a", number |-> 0],
                 seal |-> IF Kept("seals") THEN "a" ELSE "", first |-> "a", last |-> "a"]
    /\ gets = [reader \in Readers |-> Idle]
    /\ used = [reader \in Readers |-> <<>>]
    /\ layout = IF Layouts = {"same"} THEN "same" ELSE ""
    /\ written = {}
    /\ isSent = FALSE
    /\ lock = Nobody
    /\ acknowledged = <<0, 0>>
    /\ call = [op |-> "initial", kind |-> "initial"]

\* [OS-08] [OS-22] One access of a process, in an order that its program allows.
Done(process, access, kind, parts) ==
    [op |-> "do", process |-> process, does |-> access.kind, word |-> access.word, kind |-> kind, parts |-> parts]

\* [OS-42] The next chunk begins in the old place, or covers it with what a client chose.
Lay(chosen) ==
    /\ layout = ""
    /\ layout' = chosen
    /\ call' = [op |-> "lay", layout |-> chosen, kind |-> "laid"]
    /\ UNCHANGED <<memory, gets, used, written, isSent, lock, acknowledged>>

\* The writer's access at this place is the next, or one of them.
IsNextOfWriter(place, kind) ==
    /\ layout # ""
    /\ place \in DOMAIN WriterAccesses[layout]
    /\ WriterAccesses[layout][place].kind = kind
    /\ place \notin written
    /\ WriterWaits[layout][place] \subseteq written

WriterHasDone(place) ==
    /\ written' = written \cup {place}
    /\ call' = Done(Writer, WriterAccesses[layout][place], "written", {})
    /\ UNCHANGED <<gets, used, layout, acknowledged>>

\* [OS-25] Every read that has a reference is counted.
FindAllCounted(place) ==
    /\ IsNextOfWriter(place, "await")
    /\ memory.reader_count.number >= References
    /\ WriterHasDone(place)
    /\ UNCHANGED <<memory, isSent, lock>>

\* A count of the new chunk begins with no reads.
Stored(access) ==
    IF access.word = "reader_count" THEN [owner |-> access.value, number |-> 0] ELSE access.value

\* [OS-08] [OS-26]
Write(place) ==
    /\ IsNextOfWriter(place, "store")
    /\ LET access == WriterAccesses[layout][place]
       IN  memory' = [memory EXCEPT ![access.word] = Stored(access)]
    /\ WriterHasDone(place)
    /\ UNCHANGED <<isSent, lock>>

\* [RB-29]
HandOut(place) ==
    /\ IsNextOfWriter(place, "send")
    /\ isSent' = TRUE
    /\ WriterHasDone(place)
    /\ UNCHANGED <<memory, lock>>

\* [OS-23]
WriterTakesLock(place) ==
    /\ IsNextOfWriter(place, "acquire")
    /\ lock = Nobody
    /\ lock' = Writer
    /\ WriterHasDone(place)
    /\ UNCHANGED <<memory, isSent>>

WriterLeavesLock(place) ==
    /\ IsNextOfWriter(place, "release")
    /\ lock' = Nobody
    /\ WriterHasDone(place)
    /\ UNCHANGED <<memory, isSent>>

(***************************************************************************)
(* Actions of a reader                                                     *)
(***************************************************************************)
\* [RB-29] Of the new object a reader has the handle after it was handed out, or by accident before.
Known == {"a"} \cup (IF layout = "same" /\ (isSent \/ "early-handle" \in Accidents) THEN {"b"} ELSE {})

IsPromised(handle) == IF handle = "b" THEN isSent ELSE ~Clears /\ StaleReader = 0

\* [OS-20]
BeginGet(reader, handle) ==
    /\ ~IsGetting(reader)
    /\ \A i \in DOMAIN used[reader] : used[reader][i] # handle
    /\ handle \in Known
    /\ gets' = [gets EXCEPT ![reader] = GetOf(handle, IsPromised(handle))]
    /\ used' = [used EXCEPT ![reader] = Append(@, handle)]
    /\ call' = [op |-> "begin", reader |-> reader, handle |-> handle, kind |-> "begun"]
    /\ UNCHANGED <<memory, layout, written, isSent, lock, acknowledged>>

\* The reader's access at this place is the next, or one of them.
IsNextOfReader(reader, place, kind) ==
    /\ IsGetting(reader)
    /\ ReaderAccesses[place].kind = kind
    /\ place \notin gets[reader].done
    /\ ReaderWaits[place] \subseteq gets[reader].done

\* The get goes on, or was its last access and returns what it has copied.
ReaderHasDone(reader, place, get) ==
    LET now == [get EXCEPT !.done = @ \cup {place}]
        access == ReaderAccesses[place]
    IN  /\ UNCHANGED <<used, layout, written, isSent>>
        /\ IF now.done = DOMAIN ReaderAccesses
           THEN /\ gets' = [gets EXCEPT ![reader] = Idle]
                /\ call' = Done(reader, access, "returned", now.parts)
           ELSE /\ gets' = [gets EXCEPT ![reader] = now]
                /\ call' = Done(reader, access, "read", {})

\* [OS-21] [OS-22] A word that is compared is not the handle's.
Differs(reader, access) == access.word \in {"id", "size", "seal"} /\ memory[access.word] # gets[reader].handle

\* What a reader knows after it has loaded a word.
Loaded(get, word) ==
    CASE word = "reader_count" -> [get EXCEPT !.loaded_count = memory.reader_count.number]
      [] word \in {"first", "last"} -> [get EXCEPT !.parts = @ \cup {memory[word]}]
      [] OTHER -> get

Read(reader, place) ==
    /\ IsNextOfReader(reader, place, "load")
    /\ ~Differs(reader, ReaderAccesses[place])
    /\ ReaderHasDone(reader, place, Loaded(gets[reader], ReaderAccesses[place].word))
    /\ UNCHANGED <<memory, lock, acknowledged>>

\* [OS-21] [OS-22] The get ends, and leaves the lock if it has it.
FindStale(reader, place) ==
    /\ IsNextOfReader(reader, place, "load")
    /\ Differs(reader, ReaderAccesses[place])
    /\ gets' = [gets EXCEPT ![reader] = Idle]
    /\ lock' = IF lock = reader THEN Nobody ELSE lock
    /\ call' = Done(reader, ReaderAccesses[place], "stale", {})
    /\ UNCHANGED <<memory, used, layout, written, isSent, acknowledged>>

\* [OS-20] [OS-32] One more than was loaded, in whosoever chunk the word is now.
Acknowledge(reader, place) ==
    /\ IsNextOfReader(reader, place, "store")
    /\ memory' = [memory EXCEPT !.reader_count.number = gets[reader].loaded_count + 1]
    /\ acknowledged' = [acknowledged EXCEPT ![IF gets[reader].handle = "a" THEN 1 ELSE 2] = @ + 1]
    /\ ReaderHasDone(reader, place, [gets[reader] EXCEPT !.loaded_count = NotLoaded])
    /\ UNCHANGED lock

\* [OS-20]
ReaderTakesLock(reader, place) ==
    /\ IsNextOfReader(reader, place, "acquire")
    /\ lock = Nobody
    /\ lock' = reader
    /\ ReaderHasDone(reader, place, gets[reader])
    /\ UNCHANGED <<memory, acknowledged>>

ReaderLeavesLock(reader, place) ==
    /\ IsNextOfReader(reader, place, "release")
    /\ lock' = Nobody
    /\ ReaderHasDone(reader, place, gets[reader])
    /\ UNCHANGED <<memory, acknowledged>>

(***************************************************************************)
(* Specification                                                           *)
(***************************************************************************)
WriterPlaces ==
    LET lengths == {Len(WriterAccesses[each]) : each \in Layouts}
    IN  1..(CHOOSE most \in lengths : \A length \in lengths : length <= most)

Next ==
    \/ \E chosen \in Layouts : Lay(chosen)
    \/ \E place \in WriterPlaces :
        \/ FindAllCounted(place)
        \/ Write(place)
        \/ HandOut(place)
        \/ WriterTakesLock(place)
        \/ WriterLeavesLock(place)
    \/ \E reader \in Readers : \E handle \in Reads[reader] : BeginGet(reader, handle)
    \/ \E reader \in Readers : \E place \in DOMAIN ReaderAccesses :
        \/ Read(reader, place)
        \/ FindStale(reader, place)
        \/ Acknowledge(reader, place)
        \/ ReaderTakesLock(reader, place)
        \/ ReaderLeavesLock(reader, place)

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Invariants                                                              *)
(***************************************************************************)
TypeOK ==
    /\ memory \in [id : Owners, size : Owners, reader_count : CountWord, seal : Owners \cup {"", "?"},
                   first : Owners, last : Owners]
    /\ layout \in Layouts \cup {""}
    /\ isSent \in BOOLEAN
    /\ lock \in Readers \cup {Writer, Nobody}
    /\ \A reader \in Readers :
        /\ gets[reader].handle \in Owners \cup {""}
        /\ gets[reader].done \subseteq DOMAIN ReaderAccesses
        /\ gets[reader].parts \subseteq Owners
        /\ gets[reader].loaded_count \in {NotLoaded} \cup 0..(2 * Len(Reads))

IsComplete(owner) ==
    {memory.id, memory.size, memory.reader_count.owner, memory.first, memory.last} = {owner}

\* [OS-08] Whoever finds the seal of a new chunk finds everything before it.
SealSaysComplete == memory.seal = "b" => IsComplete("b")

\* [OS-26] The seal of a chunk that went is gone before its place is used again.
WipedFirst == memory.seal = "a" => IsComplete("a")

\* [OS-32] While nobody is counting, the count is the number of acknowledged reads of its chunk.
ExactCount ==
    (\A reader \in Readers : gets[reader].loaded_count = NotLoaded)
        => memory.reader_count.number = acknowledged[IF memory.reader_count.owner = "a" THEN 1 ELSE 2]

(***************************************************************************)
(* Properties of steps                                                     *)
(***************************************************************************)
Returns == call'.kind = "returned"
HandleOf(process) == gets[process].handle

\* [OS-41] What a get returns is one object, not made of two.
NeverTorn == [][Returns => Cardinality(call'.parts) = 1]_vars

\* [OS-22] What a get returns is not another object.
ItsOwn == [][Returns /\ layout # "look-alike" => HandleOf(call'.process) \in call'.parts]_vars

\* [OS-42] What a client made look like a chunk is not what an old handle resolves to.
NotPlanted == [][Returns /\ layout = "look-alike" => HandleOf(call'.process) \in call'.parts]_vars

\* [OS-23] A reader adds to the count of the chunk that its handle names.
CountLands ==
    [][call'.op = "do" /\ call'.process # Writer /\ call'.does = "store"
        => memory.reader_count.owner = HandleOf(call'.process)]_vars

\* A get that must succeed returns its object whole.
KeepsPromise(handle) ==
    /\ call'.kind \in {"returned", "stale"}
    /\ HandleOf(call'.process) = handle
    /\ gets[call'.process].is_promised
    => Returns /\ call'.parts = {handle}

\* [OS-31] A get that has a reference returns its object, unless the store was cleared.
ReferencedReads == [][KeepsPromise("a")]_vars

\* [RB-29] Who got the handle over the channel finds the object as it was handed out.
AsHandedOut == [][KeepsPromise("b")]_vars
=============================================================================
