------------------------ MODULE TraceKeyReplicated ------------------------
(* Event logs of key-replicated pairs: is there a behaviour of KeyReplicated that explains what each process wrote
   down?   [EV-04] [EV-05] [EV-06]

   A log is three sequences of events, of P0, of P1 and of the channel; one of the logs is chosen in the beginning. Each
   step is the next event of one process, taken by the action of its name, and seen as the log says. A log of which
   every event was taken is a behaviour. `mmcache-ref trace check --tlc` writes the logs as a module.

   An event is <<did, message, request, keys, saw, holds, made>>, all in numbers: `did` names one of `Dids`, keys are
   places in `Keys`, items in `Items`, contents in `Contents`; -1 stands for what is not there. `saw` is
   <<form, values>>; the forms are those of `Saw`.                                                              *)
EXTENDS KeyReplicated, JudgedLogs, TLC

(***************************************************************************)
(* Constants                                                               *)
(***************************************************************************)
CONSTANT
    TellsCourse  \* is it told how far each behaviour comes?

(* Of the module JudgedLogs, which is written anew for the logs in question:
   Logs      each <<events of P0, events of P1, events of the channel>>
   Keys      identities
   Items     items of requests, <<key, content, supplied (0 or 1), modality>>, of numbers but for the last
   Contents  <<nbytes, fill>>                                                                               *)

NoRequests == <<>>  \* for Asked: a log says itself what clients asked

P0 == 1
P1 == 2
Between == 3

Dids ==
    <<"submit", "check", "reject", "dry-run", "bypass", "second-front-end", "second-engine", "update", "clear-p0",
      "clear-both", "handle-report", "lose-report", "retry", "deliver", "clear-p1", "finish-clear", "restart-p1",
      "abort", "drop">>

(***************************************************************************)
(* Variables, besides those of KeyReplicated                               *)
(***************************************************************************)
VARIABLES
    log,   \* the number of the log
    at,    \* for each process the place of its next event
    names  \* the names of the messages: [channel, reports, retries], each in the order of that variable

traceView == <<view, log, at, names>>
traceVars == <<vars, log, at, names>>

TraceInit ==
    /\ Init
    /\ log \in DOMAIN Logs
    /\ at = <<1, 1, 1>>
    /\ names = [channel |-> <<>>, reports |-> <<>>, retries |-> <<>>]

(***************************************************************************)
(* What an event says                                                      *)
(***************************************************************************)
IsOver(process) == at[process] > Len(Logs[log][process])

Event(process) == Logs[log][process][at[process]]

Did(event) == Dids[event[1]]

Message(event) == event[2]

Named(coded) == [place \in DOMAIN coded |-> Keys[coded[place]]]

ContentAt(number) == [nbytes |-> Contents[number][1], fill |-> Contents[number][2]]

RequestIn(event) ==
    [place \in DOMAIN event[3] |->
        LET item == Items[event[3][place]]
        IN  [key |-> Keys[item[1]], content |-> ContentAt(item[2]), supplied |-> item[3] = 1,
             modality |-> item[4]]]

MadeIn(event) == event[7]

\* The forms of what a process saw: nothing; for each item the content or nothing; the hashes of a miss; those that
\* a refused request lacks; an assertion that names one of some keys; a yes or no for each item. Anything else fits
\* none of them.
Saw(event, form, Fits(_)) == event[5][1] = form /\ Fits(event[5][2])
SawNothing(event) == Saw(event, 0, LAMBDA values : TRUE)
SawContents(event, contents) ==
    Saw(event, 1, LAMBDA values :
        /\ Len(values) = Len(contents)
        /\ \A place \in DOMAIN values :
            IF contents[place] = None THEN values[place] = 0
            ELSE values[place] > 0 /\ ContentAt(values[place]) = contents[place])
SawMiss(event, hashes) == Saw(event, 2, LAMBDA values : Named(values) = hashes)
SawRefusal(event, hashes) == Saw(event, 3, LAMBDA values : Named(values) = hashes)
SawAssertion(event, key) == Saw(event, 4, LAMBDA values : \E place \in DOMAIN values : Keys[values[place]] = key)
SawAnswers(event, answers) ==
    \/ Saw(event, 5, LAMBDA values : values = [place \in DOMAIN answers |-> IF answers[place] THEN 1 ELSE 0])
    \/ answers = <<>> /\ Saw(event, 1, LAMBDA values : values = <<>>)

\* What a process says that it holds; -1 where it does not say so.
Holds(event, entries) == event[6] = <<-1>> \/ Named(event[6]) = KeyOrder(entries)
HoldsUntold(event) == event[6] = <<-1>>

(***************************************************************************)
(* What a process must have seen                                           *)
(***************************************************************************)
Lacking(entries, request) ==
    LET places == SelectSeq(PlacesOf(request), LAMBDA place :
            ~request[place].supplied /\ request[place].key \notin KeysOf(entries))
    IN  [number \in DOMAIN places |-> request[places[number]].key]

Sent(features) ==
    [place \in DOMAIN features |-> IF features[place].sent THEN features[place].item.content ELSE None]

\* The key at which a merge step fails: of the shortest part of its updates that does.
Asserted(entries, request, cached) ==
    LET order == UpdateOrder(request)
        touched == AllTouched(entries, [number \in DOMAIN order |-> request[order[number]].key])
        Fails(count) == Updated(touched, touched, [place \in DOMAIN request |-> None], {}, request, cached,
                                SubSeq(order, 1, count)).features = None
        shortest == CHOOSE count \in DOMAIN order : Fails(count) /\ \A less \in 1..(count - 1) : ~Fails(less)
    IN  request[order[shortest]].key

\* Of a merge step: what is sent, or the assertion.
SawMerge(event, entries, request, cached) ==
    LET merged == Merge(entries, request, cached)
    IN  IF merged.features = None
        THEN SawAssertion(event, Asserted(entries, request, cached))
        ELSE SawContents(event, Sent(merged.features))

\* Of a request from its check on.
SawRequest(event, entries, request) ==
    IF IsUnsupplied(entries, request)
    THEN SawRefusal(event, Lacking(entries, request))
    ELSE SawMerge(event, entries, request, IsCached(entries, request))

SawTaken(event, taken) ==
    IF taken.missing = <<>> THEN SawContents(event, taken.served) ELSE SawMiss(event, taken.missing)

\* Of a request that another cache pair serves, or, with "paired", none.
SawElsewhere(event, entries, taking, request) ==
    LET merged == Merge(entries, request, IsCached(entries, request))
    IN  IF Keeps("paired")
        THEN IF IsUnsupplied(<<>>, request) THEN SawRefusal(event, Lacking(<<>>, request))
             ELSE SawContents(event, [place \in DOMAIN request |-> request[place].content])
        ELSE IF IsUnsupplied(entries, request) THEN SawRefusal(event, Lacking(entries, request))
        ELSE IF merged.features = None
        THEN SawAssertion(event, Asserted(entries, request, IsCached(entries, request)))
        ELSE SawTaken(event, Ingest(taking, merged.features))

(***************************************************************************)
(* Names of messages                                                       *)
(***************************************************************************)
PlaceIn(queue, message) == CHOOSE place \in DOMAIN queue : queue[place] = message
IsIn(queue, message) == \E place \in DOMAIN queue : queue[place] = message

KeysIn(request) == [place \in DOMAIN request |-> request[place].key]

\* How the names of a queue go on: one leaves at a place (0: none does), one comes, or all are gone.
Follow(queue, was, now, place, comes) ==
    IF place > 0 THEN (IF now < was THEN WithoutPlace(queue, place) ELSE queue)
    ELSE IF now > was THEN Append(queue, comes) ELSE IF now = 0 THEN <<>> ELSE queue

NamesFollow(event, source, place) ==
    LET subject == IF source = "none" THEN MadeIn(event) ELSE Message(event)
        PlaceOf(queue) == IF source = queue THEN place ELSE 0
    IN  names' =
        [channel |-> Follow(names.channel, Len(channel), Len(channel'), PlaceOf("channel"), MadeIn(event)),
         reports |-> Follow(names.reports, Len(reports), Len(reports'), PlaceOf("reports"), subject),
         retries |-> Follow(names.retries, Len(retries), Len(retries'), PlaceOf("retries"), subject)]

\* [EV-04] A message that was made has a name, and nothing else has.
IsNamed(event, isMade) == (MadeIn(event) # -1) = isMade

(***************************************************************************)
(* The steps                                                               *)
(***************************************************************************)
\* Whether something is still to happen in the channel to a message.
IsAwaited(message) ==
    \E later \in at[Between]..Len(Logs[log][Between]) : Message(Logs[log][Between][later]) = message

\* Does P1 take this message later on? And only after it has started again?
Deliveries(message) ==
    {later \in at[P1]..Len(Logs[log][P1]) :
        Did(Logs[log][P1][later]) = "deliver" /\ Message(Logs[log][P1][later]) = message}
IsAfterRestart(message) ==
    \E taken \in Deliveries(message) : \E early \in at[P1]..(taken - 1) : Did(Logs[log][P1][early]) = "restart-p1"

\* Something that a client asks of P0; what P1 takes after a restart is not sent before it.
OfP0(event) ==
    LET request == RequestIn(event)
    IN  /\ MadeIn(event) = -1 \/ ~IsAfterRestart(MadeIn(event))
        /\ CASE Did(event) = "submit" -> Submit(request) /\ SawRequest(event, sender, request)
             [] Did(event) = "check" ->
                    /\ Check(request)
                    /\ IF IsUnsupplied(sender, request)
                       THEN SawRefusal(event, Lacking(sender, request))
                       ELSE SawAnswers(event, IsCached(sender, request))
             [] Did(event) \in {"reject", "dry-run"} ->
                    /\ IF Did(event) = "reject" THEN Reject(request) ELSE DryRun(request)
                    /\ IF Keeps("rollback") /\ ~IsUnsupplied(sender, request)
                       THEN SawNothing(event)
                       ELSE SawRequest(event, sender, request)
             [] Did(event) = "bypass" -> Bypass(request) /\ SawNothing(event)
             [] Did(event) = "second-front-end" ->
                    SecondFrontEnd(request) /\ SawElsewhere(event, second_sender, receiver, request)
             [] Did(event) = "second-engine" ->
                    SecondEngine(request) /\ SawElsewhere(event, sender, second_receiver, request)
             [] Did(event) = "update" ->
                    Update /\ SawMerge(event, sender, checked.request, checked.cached)
             [] Did(event) = "clear-p0" -> ClearP0 /\ ~IsDeferred /\ SawNothing(event)
             [] Did(event) = "clear-both" -> ClearBoth /\ ~IsDeferred /\ SawNothing(event)
             [] OTHER -> FALSE
        /\ Holds(event, sender')
        /\ IsNamed(event, Len(channel') > Len(channel) \/ (Did(event) = "second-engine" /\ reports' # reports))
        /\ NamesFollow(event, "none", 0)

\* P0 hears of a miss, or repeats its request.
OfMiss(event) ==
    LET source == IF Did(event) = "retry" THEN "retries" ELSE "reports"
        queue == IF source = "retries" THEN retries ELSE reports
        place == PlaceIn(names[source], Message(event))
        request == queue[place].request
        entries == BeforeRetry(sender, request)
    IN  /\ IsIn(names[source], Message(event))
        /\ MadeIn(event) = -1 \/ ~IsAfterRestart(MadeIn(event))
        /\ KeysIn(request) = Named(event[4])
        /\ CASE Did(event) = "retry" ->
                    Retry(place) /\ SawMerge(event, entries, request, IsCached(entries, request))
             [] Did(event) = "handle-report" -> HandleReport(place) /\ ~IsDeferred /\ SawNothing(event)
             [] Did(event) = "lose-report" ->
                    /\ LoseReport(place)
                    /\ ~(Keeps("report-always") /\ IsDeferred)
                    /\ SawNothing(event)
        /\ Holds(event, sender')
        /\ IsNamed(event, Did(event) = "retry")
        /\ NamesFollow(event, source, place)

\* P1 takes a message; not while something is still to happen to it in the channel: it would be gone.
OfDelivery(event) ==
    LET place == PlaceIn(names.channel, Message(event))
    IN  /\ IsIn(names.channel, Message(event))
        /\ ~IsAwaited(Message(event))
        /\ KeysIn(RequestOf(channel[place])) = Named(event[4])
        /\ Waits(place) = "no"
        /\ Deliver(place)
        /\ SawTaken(event, Taken(receiver, p1_number, channel[place]))
        /\ Holds(event, receiver')
        /\ IsNamed(event, FALSE)
        /\ NamesFollow(event, "channel", place)

\* P1 alone; it starts again only where nothing is lost with it of which the log tells more.
OfP1(event) ==
    /\ CASE Did(event) = "clear-p1" -> ClearP1
         [] Did(event) = "finish-clear" -> FinishClear /\ call'.kind # "held-back"
         [] Did(event) = "restart-p1" ->
                /\ \A place \in DOMAIN names.channel :
                    ~IsAwaited(names.channel[place]) /\ Deliveries(names.channel[place]) = {}
                /\ RestartP1
         [] OTHER -> FALSE
    /\ SawNothing(event) /\ Holds(event, receiver') /\ IsNamed(event, FALSE)
    /\ NamesFollow(event, "none", 0)

\* Something happens to a message in the channel.
OfChannel(event) ==
    LET place == PlaceIn(names.channel, Message(event))
    IN  /\ IsIn(names.channel, Message(event))
        /\ KeysIn(RequestOf(channel[place])) = Named(event[4])
        /\ IF Did(event) = "abort" THEN Abort(place) ELSE Drop(place)
        /\ SawNothing(event) /\ HoldsUntold(event) /\ IsNamed(event, FALSE)
        /\ NamesFollow(event, "channel", place)

Step(process, event) ==
    CASE process = Between -> OfChannel(event)
      [] process = P1 -> IF Did(event) = "deliver" THEN OfDelivery(event) ELSE OfP1(event)
      [] process = P0 -> IF Did(event) \in {"handle-report", "lose-report", "retry"} THEN OfMiss(event)
                         ELSE OfP0(event)

Take(process) ==
    /\ ~IsOver(process)
    /\ Step(process, Event(process))
    /\ at' = [at EXCEPT ![process] = @ + 1]
    /\ UNCHANGED log

(***************************************************************************)
(* Which process is next                                                   *)
(***************************************************************************)
IsLeft(process, did) ==
    \E later \in at[process]..Len(Logs[log][process]) : Did(Logs[log][process][later]) = did

\* Does another front-end use P1's cache later on?
IsShared == ~Keeps("paired") /\ IsLeft(P0, "second-front-end")

\* Is the next event of a process possible, but for what it saw?
MayGo(process) ==
    /\ ~IsOver(process)
    /\ LET event == Event(process)
           place == PlaceIn(names.channel, Message(event))
       IN  CASE process = Between -> IsIn(names.channel, Message(event))
             [] process = P1 /\ Did(event) = "deliver" ->
                    IsIn(names.channel, Message(event)) /\ ~IsAwaited(Message(event)) /\ Waits(place) = "no"
             [] process = P1 -> Did(event) = "clear-p1"
             [] process = P0 -> Did(event) \in {"submit", "reject", "dry-run", "bypass", "second-engine"}

\* What happens in the channel can wait for nobody, and nobody for it. P1's events and P0's commute, but where P1
\* restarts, which loses what was sent, or another front-end uses its cache. So what one process saw wrongly no event
\* of another makes right.
Go ==
    IF MayGo(Between) THEN Take(Between)
    ELSE IF ~IsShared /\ MayGo(P1) THEN Take(P1)
    ELSE IF IsShared /\ MayGo(P0) /\ ~IsLeft(P1, "restart-p1") THEN Take(P0)
    ELSE Take(P0) \/ Take(P1)

IsExplained == \A process \in {P0, P1, Between} : IsOver(process)

\* Asked of every state, it only tells: that a log is explained, or how far a behaviour came.
IsTold ==
    /\ IsExplained => PrintT(<<"explained", log, at[P0], at[P1], at[Between]>>)
    /\ TellsCourse => PrintT(<<"so far", log, at[P0], at[P1], at[Between]>>)

TraceSpec == TraceInit /\ [][Go]_traceVars
=============================================================================
