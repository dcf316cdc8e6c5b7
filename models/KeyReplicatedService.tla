------------------------ MODULE KeyReplicatedService ------------------------
(* KeyReplicated is a CacheService: the refinement mapping. Three history variables say what the state of the
   protocol does not keep: how often a request was tried, what was answered, whether P1 forgot on its own.   *)
EXTENDS Drift

(***************************************************************************)
(* Variables                                                               *)
(***************************************************************************)
VARIABLES
    tries,        \* for each request in `channel`, `reports`, `retries`: how often it was tried, this time included
    answer,       \* what the last step answered to a user, or None
    hasForgotten  \* was P1 ever cleared without P0, or started again?

history == <<tries, answer, hasForgotten>>
serviceView == <<view, tries, hasForgotten>>

(***************************************************************************)
(* History                                                                 *)
(***************************************************************************)
ServiceInit ==
    /\ Init
    /\ tries = [channel |-> <<>>, reports |-> <<>>, retries |-> <<>>]
    /\ answer = None
    /\ hasForgotten = FALSE

\* The request as the service knows it: what the client supplied is no part of its identity.
AllSupplied(request) == [place \in DOMAIN request |-> [request[place] EXCEPT !.supplied = TRUE]]

Place == call'.position + 1

\* How often each request was tried, after the step that `call'` tells of.
TriesAfter ==
    LET isSent == Len(channel') > Len(channel)
        isTaken == Len(channel') < Len(channel)
        isMissed == Len(reports') > Len(reports)
        isHandled == Len(reports') < Len(reports)
    IN  CASE call'.op = "retry" ->
                [channel |-> IF isSent THEN Append(tries.channel, tries.retries[Place]) ELSE tries.channel,
                 reports |-> tries.reports,
                 retries |-> WithoutPlace(tries.retries, Place)]
          [] call'.op \in {"deliver", "abort", "drop"} /\ isTaken ->
                [tries EXCEPT !.channel = WithoutPlace(tries.channel, Place),
                              !.reports = IF isMissed THEN Append(@, tries.channel[Place] + 1) ELSE @]
          [] call'.op \in {"handle-report", "lose-report"} /\ isHandled ->
                [tries EXCEPT !.reports = WithoutPlace(@, Place), !.retries = Append(@, tries.reports[Place])]
          [] call'.op = "restart-p1" -> [tries EXCEPT !.channel = <<>>]
          [] call'.op \in {"submit", "update", "bypass"} /\ isSent -> [tries EXCEPT !.channel = Append(@, 1)]
          [] call'.op = "second-engine" /\ isMissed -> [tries EXCEPT !.reports = Append(@, 2)]
          [] OTHER -> tries

IsForgetting == call'.op \in {"clear-p1", "restart-p1"}

\* What a user was answered in the step that `call'` tells of.
AnswerOf ==
    CASE IsTaken /\ call'.missing = <<>> ->
            [kind |-> "served", request |-> RequestOf(TakenMessage), items |-> call'.served]
      [] IsTaken /\ call'.missing # <<>> ->
            [kind |-> "missed", request |-> RequestOf(TakenMessage),
             missing |-> {call'.missing[place] : place \in DOMAIN call'.missing}]
      [] IsForgetting -> [kind |-> "forgotten"]
      [] call'.kind \in {"unsupplied", "rejected", "rolled-back"} /\ ~IsSecond ->
            [kind |-> "refused", request |-> AllSupplied(call'.request)]
      [] call'.kind \in {"asserted", "invalidated"} /\ (IsUpdate \/ IsRefusal) -> [kind |-> "failed"]
      [] OTHER -> None

ServiceNext ==
    /\ Next
    /\ tries' = TriesAfter
    /\ answer' = AnswerOf
    /\ hasForgotten' = (hasForgotten \/ IsForgetting)

ServiceSpec == ServiceInit /\ [][ServiceNext]_<<vars, history>>

(***************************************************************************)
(* The mapping                                                             *)
(***************************************************************************)
UnderWay ==
    LET Try(request, number) == [request |-> AllSupplied(request), tries |-> number]
    IN  [place \in DOMAIN channel |-> Try(RequestOf(channel[place]), tries.channel[place])]
        \o [place \in DOMAIN reports |-> Try(reports[place].request, tries.reports[place])]
        \o [place \in DOMAIN retries |-> Try(retries[place].request, tries.retries[place])]
        \o (IF checked = None THEN <<>> ELSE <<Try(checked.request, 1)>>)

Service == INSTANCE CacheService WITH
    Requests <- {AllSupplied(request) : request \in Requests},
    open <- [each \in {UnderWay[place] : place \in DOMAIN UnderWay} |->
                Cardinality({place \in DOMAIN UnderWay : UnderWay[place] = each})],
    used <- <<SizeOf(sender), SizeOf(receiver)>>

\* [DR-05] [DR-07] [DR-10] [DR-11] [DR-12] [DR-13] [DR-22] [DR-23] [DR-24] Users see a CacheService.
IsService == Service!Spec
=============================================================================
