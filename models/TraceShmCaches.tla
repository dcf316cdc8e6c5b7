--------------------------- MODULE TraceShmCaches ---------------------------
(* Event logs of caches in shared memory: is there a behaviour of ShmCaches that explains what each process wrote down?
   [EV-04] [EV-05] [EV-06] [EV-07]

   A log is the sequences of events of P0, of each worker and of the channel; one of the logs is chosen in the beginning.
   Each step is the next event of one process, taken by the action of its name, and seen as the log says. A log of which
   every event was taken is a behaviour. `mmcache-ref trace check --tlc` writes the logs as a module.

   EventLogs tells what is in an event.                                                                       *)
EXTENDS ShmCaches, EventLogs, TLC

NoRequests == {}  \* for Asked: a log says itself what clients asked

P0 == 1
WorkerOf(process) == process - 1
ProcessesOfWorkers == 2..(Workers + 1)
Between == Workers + 2
Processes == 1..Between

(***************************************************************************)
(* Variables, besides those of ShmCaches and EventLogs                     *)
(***************************************************************************)
VARIABLE
    names  \* the names of the messages: [channel, running, retries], each in the order of that variable

traceVars == <<vars, log, at, names>>

\* In which order requests began to run, or failed, does not matter.
NamedBag(ofNames, queue) == {<<ofNames[place], queue[place]>> : place \in DOMAIN queue}
traceView ==
    <<store, channel, names.channel, NamedBag(names.running, running), NamedBag(names.retries, retries), outdated,
      is_dead, log, at>>

TraceInit ==
    /\ Init
    /\ log \in DOMAIN Logs
    /\ at = [process \in Processes |-> 1]
    /\ names = [channel |-> <<>>, running |-> <<>>, retries |-> <<>>]

FormsInFull == InFull(None)

FormAt(process, place) == FormsInFull[FormNumber(process, place)]

\* The next event of a process.
Form(process) == FormAt(process, at[process])
Did(process) == Form(process).did

(***************************************************************************)
(* What a process must have seen                                           *)
(***************************************************************************)
Lacking(request) ==
    LET lacks(item) == ~item.supplied /\ item.key \notin Stored(store)
        items == SelectSeq(request, lacks)
    IN  KeysIn(items)

HowOf(feature) ==
    IF feature.is_stripped THEN "nothing" ELSE IF feature.handle = None THEN "item" ELSE "handle"

CarriedIn(features) ==
    [place \in DOMAIN features |-> [how |-> HowOf(features[place]), content |-> features[place].item.content]]

ServedIn(features) ==
    [place \in DOMAIN features |-> IF features[place].is_stripped THEN None ELSE features[place].item.content]

\* Of a request that P0 updated. An assertion names the item after those that were carried.
SawUpdate(form, request) ==
    IF call'.kind = "unsupplied" THEN SawRefusal(form, Lacking(request))
    ELSE LET updated == UpdateOf(request)
         IN  IF "asserted" \in updated.kinds THEN SawAssertion(form, request[Len(updated.features) + 1].key)
             ELSE SawCarried(form, CarriedIn(updated.features))

\* The keys of the handles whose chunk is gone.
GoneIn(features) == Acknowledged(store, HandlesOf(features)).gone

(***************************************************************************)
(* Names of messages                                                       *)
(***************************************************************************)
SourceOf(did) ==
    CASE did \in {"read", "abort", "strip"} -> "channel"
      [] did \in {"finish", "resume"} -> "running"
      [] did = "retry" -> "retries"
      [] OTHER -> "none"

Queue(source) == CASE source = "channel" -> channel [] source = "running" -> running [] OTHER -> retries

KeysAt(source, place) ==
    IF source = "retries" THEN KeysIn(retries[place].request) ELSE KeysIn(RequestOf(Queue(source)[place].features))

NamesFollow(process, source, place) ==
    LET subject == IF source = "none" THEN MessageMade(process) ELSE MessageTaken(process)
        AtPlaceOf(queue) == IF source = queue THEN place ELSE 0
    IN  names' =
        [channel |-> Follow(names.channel, Len(channel), Len(channel'), AtPlaceOf("channel"), MessageMade(process)),
         running |-> Follow(names.running, Len(running), Len(running'), AtPlaceOf("running"), subject),
         retries |-> Follow(names.retries, Len(retries), Len(retries'), AtPlaceOf("retries"), subject)]

\* What a dead worker leaves: releases for the others, and perhaps retries of what was under way.
NamesFollowDeath(worker) ==
    LET kept == SelectSeq([place \in DOMAIN channel |-> place],
                          LAMBDA place : IsOwed(AsRelease([channel[place] EXCEPT !.left[worker] = 0])))
        ended == SelectSeq([place \in DOMAIN channel |-> place], LAMBDA place : ~channel[place].is_release)
        NamesAt(places) == [each \in DOMAIN places |-> names.channel[places[each]]]
    IN  names' = [channel |-> NamesAt(kept), running |-> <<>>,
                  retries |-> IF Keeps("clear-on-death") THEN names.retries \o NamesAt(ended) \o names.running
                              ELSE names.retries]

(***************************************************************************)
(* The steps                                                               *)
(***************************************************************************)
\* Is such an event still to happen to a message in the channel lane?
IsLeft(did, message) ==
    \E later \in at[Between]..EventsOf(Between) :
        FormAt(Between, later).did = did /\ MessageAt(Between, later) = message

\* Is a worker still to be answered when it reads a message?
IsToBeAnswered(message) ==
    \E process \in ProcessesOfWorkers : \E later \in at[process]..EventsOf(process) :
        /\ FormAt(process, later).did = "read" /\ MessageAt(process, later) = message
        /\ FormAt(process, later).as \in {1, 2} /\ FormAt(process, later).saw # <<>>

IsPossible(request) == request # <<>> /\ \A place \in DOMAIN request : request[place].content.nbytes > 0

\* What a client asks of P0.
OfP0(form) ==
    /\ CASE form.did = "submit" ->
                /\ IsPossible(form.request)
                /\ Submit(form.request, form.children)
                /\ SawUpdate(form, form.request)
         [] form.did = "reject" ->
                /\ IsPossible(form.request)
                /\ Reject(form.request, form.children)
                /\ SawUpdate(form, form.request)
         [] form.did = "clear" -> Clear /\ call'.kind # "deferred" /\ SawNothing(form)
         [] form.did = "forge" -> Forge(form.key, "unsigned", "p0") /\ SawBadSignature(form)
         [] form.did = "replay" ->
                /\ Replay(form.key, form.is_outdated)
                /\ IF form.is_outdated THEN SawBadSignature(form)
                   ELSE SawCarried(form, CarriedIn(channel'[Len(channel')].features))
         [] OTHER -> FALSE
    /\ NamesFollow(P0, "none", 0)

OfRetry(form) ==
    LET place == PlaceIn(names.retries, MessageTaken(P0))
    IN  /\ IsIn(names.retries, MessageTaken(P0))
        /\ KeysAt("retries", place) = form.keys
        /\ Retry(place)
        /\ SawCarried(form, CarriedIn(channel'[Len(channel')].features))
        /\ NamesFollow(P0, "retries", place)

\* A worker reads; not before what is told of the message's handles.
OfRead(process, form) ==
    LET place == PlaceIn(names.channel, MessageTaken(process))
        message == channel[place]
    IN  /\ IsIn(names.channel, MessageTaken(process))
        /\ ~IsLeft("strip", MessageTaken(process))
        /\ KeysAt("channel", place) = form.keys
        /\ Read(place, WorkerOf(process))
        /\ CASE call'.kind = "missed" -> SawMiss(form, GoneIn(message.features))
             [] call'.kind = "died" -> SawGone(form)
             [] call'.kind = "dropped" -> SawContents(form, <<>>)
             [] OTHER -> SawContents(form, ServedIn(message.features))
        /\ NamesFollow(process, "channel", place)

OfWorker(process, form) ==
    /\ IF form.did = "read" THEN OfRead(process, form)
       ELSE WorkerDeath(WorkerOf(process)) /\ SawNothing(form) /\ NamesFollowDeath(WorkerOf(process))
    /\ ~form.tells
    /\ MessageMade(process) = 0

\* Something happens to a message in the channel, or to the running request that it became. Who was answered has read
\* before the abort.
OfChannel(form) ==
    LET source == SourceOf(form.did)
        place == PlaceIn(names[source], MessageTaken(Between))
        features == Queue(source)[place].features
    IN  /\ IsIn(names[source], MessageTaken(Between))
        /\ KeysAt(source, place) = form.keys
        /\ CASE form.did = "abort" -> ~IsToBeAnswered(MessageTaken(Between)) /\ Abort(place) /\ SawNothing(form)
             [] form.did = "strip" -> Strip(place) /\ SawNothing(form)
             [] form.did = "finish" -> Finish(place) /\ SawNothing(form)
             [] form.did = "resume" ->
                    /\ Resume(place)
                    /\ CASE call'.kind = "missed" -> SawMiss(form, GoneIn(features))
                         [] call'.kind = "died" -> SawGone(form)
                         [] OTHER -> SawContentsAgain(form, [worker \in WorkerNumbers |-> ServedIn(features)])
             [] OTHER -> FALSE
        /\ ~form.tells /\ MessageMade(Between) = 0
        /\ NamesFollow(Between, source, place)

KeysOf(entries) == [place \in DOMAIN entries |-> entries[place].key]

Step(process, form) ==
    CASE process = Between -> OfChannel(form)
      [] process \in ProcessesOfWorkers -> OfWorker(process, form)
      [] process = P0 ->
            /\ IF form.did = "retry" THEN OfRetry(form) ELSE OfP0(form)
            /\ Holds(form, KeysOf(store'.entries))
            /\ IsNamed(P0, form.did = "retry" \/ Len(channel') > Len(channel))

Take(process) ==
    /\ ~IsOver(process) /\ IsItsTurn(process)
    /\ Step(process, Form(process))
    /\ at' = [at EXCEPT ![process] = @ + 1]
    /\ UNCHANGED log

(***************************************************************************)
(* Which process is next                                                   *)
(***************************************************************************)
\* [SC-44] After a worker's death nothing is answered, stripped, aborted, finished or resumed that was under way.
IsOutlived(message) ==
    \/ IsToBeAnswered(message)
    \/ \E later \in at[Between]..EventsOf(Between) : MessageAt(Between, later) = message
MayDie ==
    /\ \A place \in DOMAIN channel : channel[place].is_release \/ ~IsOutlived(names.channel[place])
    /\ \A place \in DOMAIN running : ~IsOutlived(names.running[place])

\* The deaths in each log, by process.
Deaths ==
    [number \in DOMAIN Logs |->
        [process \in Processes |->
            {place \in 1..(Len(Logs[number][process]) \div 2) :
                FormsInFull[Logs[number][process][2 * place - 1]].did = "worker-death"}]]

\* Does P0 make next what a worker reads after a death that is still to come? It owes nothing of what was made before.
IsMadeAfterDeath ==
    /\ ~IsOver(P0) /\ MessageMade(P0) # 0
    /\ \E process \in ProcessesOfWorkers : \E death \in Deaths[log][process] :
           /\ death >= at[process]
           /\ \E later \in death..EventsOf(process) : MessageAt(process, later) = MessageMade(P0)

\* Could P0 see what it saw if nothing were stored any more?
CanFollowClear ==
    LET form == Form(P0)
        updated == Updated(Cleared(store), {}, {}, <<>>, {}, form.request)
    IN  CASE form.did \in {"submit", "reject"} /\ form.as = 7 ->
                 SawCarried(form, CarriedIn(updated.features)) /\ Holds(form, KeysOf(updated.store.entries))
          [] form.did \in {"forge", "replay"} -> form.is_outdated
          [] OTHER -> TRUE

\* May a worker die before P0's next event? What it reads before is in the channel.
IsDeathNear ==
    /\ Keeps("clear-on-death") => CanFollowClear
    /\ \E process \in ProcessesOfWorkers : \E death \in Deaths[log][process] :
           /\ death >= at[process]
           /\ \A earlier \in at[process]..(death - 1) : IsIn(names.channel, MessageAt(process, earlier))

\* Is the next event of a process possible, but for what it saw? A worker that dropped what it read read a release.
MayGo(process) ==
    /\ ~IsOver(process) /\ IsItsTurn(process) /\ ~is_dead
    /\ LET form == Form(process)
           source == SourceOf(form.did)
           place == PlaceIn(names[source], MessageTaken(process))
       IN  /\ source # "none" => IsIn(names[source], MessageTaken(process))
           /\ CASE form.did = "read" ->
                       /\ channel[place].left[WorkerOf(process)] > 0
                       /\ ~IsLeft("strip", MessageTaken(process))
                       /\ (form.as = 1 /\ form.saw = <<>>) => channel[place].is_release
                [] form.did = "abort" -> ~IsToBeAnswered(MessageTaken(process))
                [] form.did = "worker-death" -> MayDie
                [] OTHER -> process = P0 => ~IsMadeAfterDeath

\* Does the next event of the channel lane acknowledge nothing? Then it can wait for nobody.
IsSilent == Did(Between) # "resume" \/ Keeps("handle-until-done")

\* Does a worker acknowledge nothing when it reads a message?
IsRead(message, worker) ==
    HandlesOf(message.features) = <<>> \/ (message.has_read[worker] /\ Keeps("one-acknowledgement"))

\* Are handles still to be acknowledged by whoever resumes a request?
IsToAcknowledge ==
    /\ ~Keeps("handle-until-done")
    /\ \E later \in at[Between]..EventsOf(Between) : FormAt(Between, later).did = "resume"

\* Does P0's next event do the same whatever else workers read before it? It does where it takes no chunk away that is
\* still to be acknowledged, and needs no more room than there is.
IsSettled ==
    LET form == Form(P0)
        updated == UpdateOf(form.request)
    IN  CASE form.did \in {"submit", "reject"} ->
                 \/ IsUnsupplied(form.request)
                 \/ /\ updated.kinds \subseteq {"hit", "put", "too-large"}
                    /\ \A each \in DOMAIN store.ring.chunks :
                           /\ each \in DOMAIN updated.store.ring.chunks
                           /\ updated.store.ring.chunks[each].id = store.ring.chunks[each].id
          [] form.did = "clear" ->
                 \A place \in DOMAIN channel : \A worker \in WorkerNumbers :
                     channel[place].left[worker] = 0 \/ IsRead(channel[place], worker)
          [] OTHER -> TRUE

\* Can the next read of a process come before every death that is still to come? One that was answered must, since a
\* death leaves releases only. One that was dropped may, where a death clears: what a release acknowledges is lost then,
\* and after it nobody sees whether it was read. One that found a handle gone, and ended the engine, may need a death.
IsBeforeDeaths(process) ==
    LET form == Form(process)
    IN  form.as \in {1, 2} /\ (form.saw # <<>> \/ Keeps("clear-on-death"))

One(processes) == {CHOOSE process \in processes : \A other \in processes : process <= other}

(* Of what could be next, Due leaves out what need not be: whenever some order explains the rest of the log, one does that
   begins with an event in Due.
   - What happens in the channel and acknowledges nothing waits for nobody, nor does a read that acknowledges nothing.
   - While some read can come before every death, no death has to be next.
   - What workers read commutes with what others read; and with what P0 does, unless that depends on which chunks are
     free. So where P0's next event is settled, either it is next, or a worker dies before it. In the second case there
     are only reads until then, in any order, and the first may be any that can come before every death.
   - So it may where P0's next event waits for a death.
   - A clear loses what was acknowledged before. What was served before it must be read before; what was dropped may.
   - Where P0 is done, and a miss ends nothing, nobody learns of what was acknowledged.                        *)
Due ==
    LET goers == {process \in Processes : MayGo(process)}
        readers == {process \in goers \ {P0, Between} : Did(process) = "read"}
        quiet == {process \in readers :
                     IsRead(channel[PlaceIn(names.channel, MessageTaken(process))], WorkerOf(process))}
        early == {process \in readers : IsBeforeDeaths(process)}
        contents == {process \in early : Form(process).as = 1}
        towardsDeath == IF early = {} THEN goers ELSE One(early)
        others == IF early = {} THEN goers ELSE {process \in goers : Did(process) # "worker-death"}
    IN  IF Between \in goers /\ IsSilent THEN {Between}
        ELSE IF quiet # {} THEN One(quiet)
        ELSE IF IsToAcknowledge THEN others
        ELSE IF P0 \in goers /\ IsSettled THEN {P0} \cup (IF IsDeathNear THEN towardsDeath ELSE {})
        ELSE IF IsMadeAfterDeath THEN towardsDeath
        ELSE IF ~IsOver(P0) /\ Did(P0) = "clear" /\ contents # {} THEN One(contents)
        ELSE IF IsOver(P0) /\ readers # {} /\ Keeps("recoverable-miss") THEN One(readers)
        ELSE others

Go == \E process \in Due : Take(process)

IsExplained == \A process \in Processes : IsOver(process)

\* Asked of every state, it only tells: that a log is explained; or how far a behaviour came, and which processes are
\* next and could go on, but for what they saw.
IsTold ==
    /\ IsExplained => PrintT(<<"explained", log, at, {}>>)
    /\ TellsCourse => PrintT(<<"so far", log, at, Due>>)

TraceSpec == TraceInit /\ [][Go]_traceVars
=============================================================================
