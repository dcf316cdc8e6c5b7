------------------------------ MODULE EventLogs ------------------------------
(* Event logs in numbers: what each says, and how far each process has come in one of them.   [EV-02] [EV-04]

   A log has a sequence of events for each process. An event is two numbers: that of its form, and message * Names + made:
   the names that its message has, and that of the message which it made, within the log; 0 stands for none. A form is
   <<did, request, keys, saw, holds, children, brought>>: `did` names one of `Dids`, keys are places in `Identities`, items in
   `Items`, contents in `Contents`; -1 stands for what is not told. `saw` is <<form, values>>; the forms are those of
   `Saw`. `brought` is the key of a handle that a client brought, and 1 if it is outdated.

   TLA+           Python                          event log
   Told           mmcache_ref.model.events        an event but for the names of messages
   MessageAt      Took.message                    message
   MadeAt         Event.made                      made
   Befores        Event.lock                      lock                                                        *)
EXTENDS Integers, Sequences, JudgedLogs

CONSTANT
    TellsCourse  \* is it told how far each behaviour comes?

(* Of the module JudgedLogs, which is written anew for the logs in question:
   Logs      each a sequence of the events of each process
   Befores   for each log, process and event <<process, place, ...>>: the last event of each other process of which the
             lock tells that it came before; <<>> for a process without numbers of a lock
   Names     as many as the longest log has, and one more
   Forms     what events say besides the names of messages
   Identities  keys
   Items     items of requests, <<key, content, supplied (0 or 1), modality>>, of numbers but for the last
   Contents  <<nbytes, fill>>                                                                               *)

VARIABLES
    log,  \* the number of the log
    at    \* for each process the place of its next event

Dids ==
    <<"submit", "check", "reject", "dry-run", "bypass", "second-front-end", "second-engine", "update", "clear-p0",
      "clear-both", "handle-report", "lose-report", "retry", "deliver", "clear-p1", "finish-clear", "restart-p1",
      "abort", "drop", "read", "worker-death", "strip", "finish", "resume", "clear", "replay", "forge">>

Hows == <<"handle", "item", "nothing">>

Named(coded) == [place \in DOMAIN coded |-> Identities[coded[place]]]

\* A content that was seen: `nothing`, or what is no content.
ContentAt(number, nothing) ==
    IF number = 0 THEN nothing
    ELSE IF number = -1 THEN [nbytes |-> -1, fill |-> -1]
    ELSE [nbytes |-> Contents[number][1], fill |-> Contents[number][2]]

ContentsAt(numbers, nothing) == [place \in DOMAIN numbers |-> ContentAt(numbers[place], nothing)]

\* Contents that were carried: in turn how, and what.
CarriedAt(numbers, nothing) ==
    [place \in 1..(Len(numbers) \div 2) |->
        [how |-> Hows[numbers[2 * place - 1]], content |-> ContentAt(numbers[2 * place], nothing)]]

ItemAt(number, nothing) ==
    LET item == Items[number]
    IN  [key |-> Identities[item[1]], content |-> ContentAt(item[2], nothing), supplied |-> item[3] = 1,
         modality |-> item[4]]

\* What was seen, by its form.
SeenAs(form, values, nothing) ==
    CASE form = 1 -> ContentsAt(values, nothing)
      [] form = 5 -> values
      [] form = 7 -> CarriedAt(values, nothing)
      [] form = 8 -> [place \in DOMAIN values |-> ContentsAt(values[place], nothing)]
      [] OTHER -> Named(values)

\* The forms in full.
InFull(nothing) ==
    [number \in DOMAIN Forms |->
        LET form == Forms[number]
        IN  [did |-> Dids[form[1]],
             request |-> [place \in DOMAIN form[2] |-> ItemAt(form[2][place], nothing)],
             keys |-> Named(form[3]),
             as |-> form[4][1],
             saw |-> SeenAs(form[4][1], form[4][2], nothing),
             tells |-> form[5] # <<-1>>,
             holds |-> IF form[5] = <<-1>> THEN <<>> ELSE Named(form[5]),
             children |-> form[6],
             key |-> IF form[7] = <<>> THEN "" ELSE Identities[form[7][1]],
             is_outdated |-> form[7] # <<>> /\ form[7][2] = 1]]

EventsOf(process) == Len(Logs[log][process]) \div 2

IsOver(process) == at[process] > EventsOf(process)

FormNumber(process, place) == Logs[log][process][2 * place - 1]
MessageAt(process, place) == Logs[log][process][2 * place] \div Names
MadeAt(process, place) == Logs[log][process][2 * place] % Names

\* The next event of a process.
MessageTaken(process) == MessageAt(process, at[process])
MessageMade(process) == MadeAt(process, at[process])

\* [EV-07] Whoever gave the lock back before came before.
\* It is a value, not a conjunction of actions, with which TLC would go one level deeper for each.
IsItsTurn(process) ==
    LET before == Befores[log][process]
    IN  IF before = <<>> THEN TRUE
        ELSE \A number \in 1..(Len(before[at[process]]) \div 2) :
                at[before[at[process]][2 * number - 1]] > before[at[process]][2 * number]

\* [EV-05] The forms of what a process saw: nothing; for each item the content or nothing; the hashes of a miss; those
\* that a refused request lacks; an assertion that names one of some keys; a yes or no for each item; for each item how
\* it is carried and its content; contents for each worker; a handle that is gone; one without a valid signature.
\* Anything else fits none of them.
SawNothing(form) == form.as = 0
SawContents(form, contents) == form.as = 1 /\ form.saw = contents
SawMiss(form, hashes) == form.as = 2 /\ form.saw = hashes
SawRefusal(form, hashes) == form.as = 3 /\ form.saw = hashes
SawAssertion(form, key) == form.as = 4 /\ \E place \in DOMAIN form.saw : form.saw[place] = key
SawAnswers(form, answers) ==
    \/ form.as = 5 /\ form.saw = [place \in DOMAIN answers |-> IF answers[place] THEN 1 ELSE 0]
    \/ form.as = 1 /\ form.saw = <<>> /\ answers = <<>>
SawCarried(form, carried) == form.as = 7 /\ form.saw = carried
SawContentsAgain(form, contents) == form.as = 8 /\ form.saw = contents
SawGone(form) == form.as = 9
SawBadSignature(form) == form.as = 10

\* What a process says that it holds, if it says so.
Holds(form, keys) == form.tells => form.holds = keys

(***************************************************************************)
(* Names of messages                                                       *)
(***************************************************************************)
PlaceIn(queue, message) == CHOOSE place \in DOMAIN queue : queue[place] = message
IsIn(queue, message) == \E place \in DOMAIN queue : queue[place] = message

KeysIn(request) == [place \in DOMAIN request |-> request[place].key]

\* How the names of a queue go on: one leaves at a place (0: none does), one comes, or all are gone.
Follow(queue, was, now, place, comes) ==
    IF place > 0
    THEN IF now < was THEN SubSeq(queue, 1, place - 1) \o SubSeq(queue, place + 1, Len(queue)) ELSE queue
    ELSE IF now > was THEN Append(queue, comes) ELSE IF now = 0 THEN <<>> ELSE queue

\* [EV-04] A message that was made has a name, and nothing else has.
IsNamed(process, isMade) == (MessageMade(process) # 0) = isMade
=============================================================================
