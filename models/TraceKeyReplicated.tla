------------------------ MODULE TraceKeyReplicated ------------------------
(* Event logs of key-replicated pairs: is there a behaviour of KeyReplicated that explains what each process wrote
   down?   [EV-04] [EV-05] [EV-06]

   A log is three sequences of events, of P0, of P1 and of the channel; one of the logs is chosen in the beginning. Each
   step is the next event of one process, taken by the action of its name, and seen as the log says. A log of which
   every event was taken is a behaviour. `mmcache-ref trace check --tlc` writes the logs as a module.

   EventLogs tells what is in an event.                                                                       *)
EXTENDS KeyReplicated, EventLogs, TLC

NoRequests == <<>>  \* for Asked: a log says itself what clients asked

P0 == 1
P1 == 2
Between == 3

(***************************************************************************)
(* Variables, besides those of KeyReplicated and EventLogs                 *)
(***************************************************************************)
VARIABLE
    names  \* the names of the messages: [channel, reports, retries], each in the order of that variable

traceView == <<view, log, at, names>>
traceVars == <<vars, log, at, names>>

TraceInit ==
    /\ Init
    /\ log \in DOMAIN Logs
    /\ at = <<1, 1, 1>>
    /\ names = [channel |-> <<>>, reports |-> <<>>, retries |-> <<>>]

FormsInFull == InFull(None)

FormAt(process, place) == FormsInFull[FormNumber(process, place)]

\* The next event of a process.
Form(process) == FormAt(process, at[process])
Did(process) == Form(process).did

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

\* Of a step that took a request from its check to the channel, or up to where it ended.
SawSending(form, entries, request, cached) ==
    CASE call'.kind = "unsupplied" -> SawRefusal(form, Lacking(entries, request))
      [] call'.kind \in {"asserted", "invalidated"} -> SawAssertion(form, Asserted(entries, request, cached))
      [] OTHER -> SawContents(form, Sent(channel'[Len(channel')].features))

\* Of a merge step without a message.
SawMerge(form, entries, request) ==
    LET cached == IsCached(entries, request)
        merged == Merge(entries, request, cached)
    IN  IF IsUnsupplied(entries, request) THEN SawRefusal(form, Lacking(entries, request))
        ELSE IF merged.features = None THEN SawAssertion(form, Asserted(entries, request, cached))
        ELSE SawContents(form, Sent(merged.features))

SawTaken(form, taken) ==
    IF taken.missing = <<>> THEN SawContents(form, taken.served) ELSE SawMiss(form, taken.missing)

\* Of a request that another cache pair serves, or, with "paired", none.
SawElsewhere(form, entries, taking, request) ==
    LET merged == Merge(entries, request, IsCached(entries, request))
    IN  IF Keeps("paired")
        THEN IF IsUnsupplied(<<>>, request) THEN SawRefusal(form, Lacking(<<>>, request))
             ELSE SawContents(form, [place \in DOMAIN request |-> request[place].content])
        ELSE IF IsUnsupplied(entries, request) THEN SawRefusal(form, Lacking(entries, request))
        ELSE IF merged.features = None
        THEN SawAssertion(form, Asserted(entries, request, IsCached(entries, request)))
        ELSE SawTaken(form, Ingest(taking, merged.features))

(***************************************************************************)
(* Names of messages                                                       *)
(***************************************************************************)
NamesFollow(process, source, place) ==
    LET subject == IF source = "none" THEN MessageMade(process) ELSE MessageTaken(process)
        PlaceOf(queue) == IF source = queue THEN place ELSE 0
    IN  names' =
        [channel |-> Follow(names.channel, Len(channel), Len(channel'), PlaceOf("channel"), MessageMade(process)),
         reports |-> Follow(names.reports, Len(reports), Len(reports'), PlaceOf("reports"), subject),
         retries |-> Follow(names.retries, Len(retries), Len(retries'), PlaceOf("retries"), subject)]

(***************************************************************************)
(* The steps                                                               *)
(***************************************************************************)
\* Is something still to happen in the channel to a message?
IsAwaited(message) == \E later \in at[Between]..EventsOf(Between) : MessageAt(Between, later) = message

LastOf(process, did) ==
    [number \in DOMAIN Logs |->
        LET events == Logs[number][process]
            places == {place \in 1..(Len(events) \div 2) : FormsInFull[events[2 * place - 1]].did = did}
        IN  IF places = {} THEN 0 ELSE CHOOSE place \in places : \A other \in places : other <= place]
LastRestart == LastOf(P1, "restart-p1")
LastShared == LastOf(P0, "second-front-end")

\* Is P1 to start again? Does another front-end use P1's cache later on?
Restarts == LastRestart[log] >= at[P1]
IsShared == ~Keeps("paired") /\ LastShared[log] >= at[P0]

\* Does P1 take this message later on? And only after it has started again?
Deliveries(message) ==
    {later \in at[P1]..EventsOf(P1) : FormAt(P1, later).did = "deliver" /\ MessageAt(P1, later) = message}
IsAfterRestart(message) ==
    /\ Restarts /\ message # 0
    /\ \E taken \in Deliveries(message) : \E early \in at[P1]..(taken - 1) : FormAt(P1, early).did = "restart-p1"

\* Something that a client asks of P0; what P1 takes after a restart is not sent before it.
OfP0(form) ==
    LET request == form.request
    IN  /\ ~IsAfterRestart(MessageMade(P0))
        /\ CASE form.did = "submit" ->
                    Submit(request) /\ SawSending(form, sender, request, IsCached(sender, request))
             [] form.did = "check" ->
                    /\ Check(request)
                    /\ IF IsUnsupplied(sender, request)
                       THEN SawRefusal(form, Lacking(sender, request))
                       ELSE SawAnswers(form, IsCached(sender, request))
             [] form.did \in {"reject", "dry-run"} ->
                    /\ IF form.did = "reject" THEN Reject(request) ELSE DryRun(request)
                    /\ IF Keeps("rollback") /\ ~IsUnsupplied(sender, request)
                       THEN SawNothing(form)
                       ELSE SawMerge(form, sender, request)
             [] form.did = "bypass" -> Bypass(request) /\ SawNothing(form)
             [] form.did = "second-front-end" ->
                    SecondFrontEnd(request) /\ SawElsewhere(form, second_sender, receiver, request)
             [] form.did = "second-engine" ->
                    SecondEngine(request) /\ SawElsewhere(form, sender, second_receiver, request)
             [] form.did = "update" -> Update /\ SawSending(form, sender, checked.request, checked.cached)
             [] form.did = "clear-p0" -> ClearP0 /\ ~IsDeferred /\ SawNothing(form)
             [] form.did = "clear-both" -> ClearBoth /\ ~IsDeferred /\ SawNothing(form)
             [] OTHER -> FALSE
        /\ Holds(form, KeyOrder(sender'))
        /\ IsNamed(P0, Len(channel') > Len(channel) \/ (form.did = "second-engine" /\ reports' # reports))
        /\ NamesFollow(P0, "none", 0)

\* P0 hears of a miss, or repeats its request.
OfMiss(form) ==
    LET source == IF form.did = "retry" THEN "retries" ELSE "reports"
        queue == IF source = "retries" THEN retries ELSE reports
        place == PlaceIn(names[source], MessageTaken(P0))
        request == queue[place].request
        entries == BeforeRetry(sender, request)
    IN  /\ IsIn(names[source], MessageTaken(P0))
        /\ ~IsAfterRestart(MessageMade(P0))
        /\ KeysIn(request) = form.keys
        /\ CASE form.did = "retry" ->
                    Retry(place) /\ SawSending(form, entries, request, IsCached(entries, request))
             [] form.did = "handle-report" -> HandleReport(place) /\ ~IsDeferred /\ SawNothing(form)
             [] form.did = "lose-report" ->
                    /\ LoseReport(place)
                    /\ ~(Keeps("report-always") /\ IsDeferred)
                    /\ SawNothing(form)
        /\ Holds(form, KeyOrder(sender'))
        /\ IsNamed(P0, form.did = "retry")
        /\ NamesFollow(P0, source, place)

\* P1 takes a message; not while something is still to happen to it in the channel: it would be gone.
OfDelivery(form) ==
    LET place == PlaceIn(names.channel, MessageTaken(P1))
    IN  /\ IsIn(names.channel, MessageTaken(P1))
        /\ ~IsAwaited(MessageTaken(P1))
        /\ KeysIn(RequestOf(channel[place])) = form.keys
        /\ Waits(place) = "no"
        /\ Deliver(place)
        /\ SawTaken(form, call')
        /\ Holds(form, KeyOrder(receiver'))
        /\ IsNamed(P1, FALSE)
        /\ NamesFollow(P1, "channel", place)

\* Would a restart of P1 lose something of which the log tells more?
IsLossTold ==
    \E place \in DOMAIN names.channel : IsAwaited(names.channel[place]) \/ Deliveries(names.channel[place]) # {}

\* P1 alone; it does not start again where something would be lost of which the log tells more.
OfP1(form) ==
    /\ CASE form.did = "clear-p1" -> ClearP1
         [] form.did = "finish-clear" -> FinishClear /\ call'.kind # "held-back"
         [] form.did = "restart-p1" -> ~IsLossTold /\ RestartP1
         [] OTHER -> FALSE
    /\ SawNothing(form) /\ Holds(form, KeyOrder(receiver')) /\ IsNamed(P1, FALSE)
    /\ NamesFollow(P1, "none", 0)

\* Something happens to a message in the channel.
OfChannel(form) ==
    LET place == PlaceIn(names.channel, MessageTaken(Between))
    IN  /\ IsIn(names.channel, MessageTaken(Between))
        /\ KeysIn(RequestOf(channel[place])) = form.keys
        /\ IF form.did = "abort" THEN Abort(place) ELSE Drop(place)
        /\ SawNothing(form) /\ ~form.tells /\ IsNamed(Between, FALSE)
        /\ NamesFollow(Between, "channel", place)

OfMisses == {"handle-report", "lose-report", "retry"}

Step(process, form) ==
    CASE process = Between -> OfChannel(form)
      [] process = P1 -> IF form.did = "deliver" THEN OfDelivery(form) ELSE OfP1(form)
      [] process = P0 -> IF form.did \in OfMisses THEN OfMiss(form) ELSE OfP0(form)

Take(process) ==
    /\ ~IsOver(process) /\ IsItsTurn(process)
    /\ Step(process, Form(process))
    /\ at' = [at EXCEPT ![process] = @ + 1]
    /\ UNCHANGED log

(***************************************************************************)
(* Which process is next                                                   *)
(***************************************************************************)
\* Is the next event of a process possible, but for what it saw?
MayGo(process) ==
    /\ ~IsOver(process) /\ IsItsTurn(process)
    /\ LET did == Did(process)
       IN  CASE process = Between -> IsIn(names.channel, MessageTaken(Between))
             [] process = P1 ->
                 CASE did = "deliver" ->
                         /\ IsIn(names.channel, MessageTaken(P1)) /\ ~IsAwaited(MessageTaken(P1))
                         /\ Waits(PlaceIn(names.channel, MessageTaken(P1))) = "no"
                   [] did = "finish-clear" ->
                         /\ clearing # 0
                         /\ ~(Keeps("ordered-delivery") /\ \E place \in DOMAIN channel : channel[place].number < clearing)
                   [] did = "restart-p1" -> ~IsLossTold
                   [] OTHER -> TRUE
             [] process = P0 ->
                 /\ ~IsAfterRestart(MessageMade(P0))
                 /\ CASE did \in {"bypass", "second-front-end"} -> TRUE
                      [] did = "update" -> checked # None
                      [] did = "retry" -> checked = None /\ IsIn(names.retries, MessageTaken(P0))
                      [] did \in {"handle-report", "lose-report"} -> ~IsDeferred /\ IsIn(names.reports, MessageTaken(P0))
                      [] did = "clear-p0" -> ~IsDeferred
                      [] did = "clear-both" -> ~IsDeferred /\ clearing = 0
                      [] OTHER -> checked = None

\* Does the next event of P0 change the number from which a restart of P1 takes its own?
Numbers ==
    \/ Did(P0) \in {"clear-p0", "clear-both"}
    \/ /\ Did(P0) \in {"handle-report", "lose-report"}
       /\ reports[PlaceIn(names.reports, MessageTaken(P0))].number > p0_number

\* Could P1 come to a restart without P0?
CanRestart ==
    /\ Restarts
    /\ LET restart == CHOOSE place \in at[P1]..EventsOf(P1) :
               /\ FormAt(P1, place).did = "restart-p1"
               /\ \A early \in at[P1]..(place - 1) : FormAt(P1, early).did # "restart-p1"
       IN  \A early \in at[P1]..(restart - 1) :
               FormAt(P1, early).did = "deliver" => IsIn(names.channel, MessageAt(P1, early))

\* What happens in the channel can wait for nobody, and nobody for it. P1's events and P0's commute, but where P1
\* restarts, or another front-end uses its cache. What P0 sends before a restart is lost; where the log tells nothing
\* more of it, that is as good as if it stayed in the channel. So what one process saw wrongly no event of another
\* makes right.
Due ==
    IF MayGo(Between) THEN {Between}
    ELSE IF ~MayGo(P1) THEN {P0}
    ELSE IF ~MayGo(P0) THEN {P1}
    ELSE IF Did(P1) = "restart-p1"
    THEN IF Numbers \/ (IsShared /\ Did(P0) = "second-front-end") THEN {P0, P1} ELSE {P0}
    ELSE IF ~IsShared THEN {P1}
    ELSE IF Did(P0) = "second-front-end" \/ CanRestart THEN {P0, P1}
    ELSE {P0}

Go == \E process \in Due : Take(process)

IsExplained == \A process \in {P0, P1, Between} : IsOver(process)

\* Asked of every state, it only tells: that a log is explained; or how far a behaviour came, and which processes are
\* next and could go on, but for what they saw.
IsTold ==
    /\ IsExplained => PrintT(<<"explained", log, at, {}>>)
    /\ TellsCourse => PrintT(<<"so far", log, at, {process \in Due : MayGo(process)}>>)

TraceSpec == TraceInit /\ [][Go]_traceVars
=============================================================================
