----------------------- MODULE KeyReplicatedLiveness -----------------------
(* What happens in the end: every accepted request is answered, and every drifted key is repaired. A history variable
   follows one request, any one, on its way through the protocol.                                           *)
EXTENDS Drift

(***************************************************************************)
(* Variables                                                               *)
(***************************************************************************)
VARIABLE
    watched  \* where the followed request is: [where, place], place counted from 1 where it stands in a sequence

watchedView == <<view, watched>>

At(where, place) == [where |-> where, place |-> place]
Nowhere == At("nowhere", 0)
Answered == At("answered", 0)
Lost == At("lost", 0)

(***************************************************************************)
(* The way of a request                                                    *)
(***************************************************************************)
\* One place was taken out of the sequence where it stands: it moves up, or it is the one, and `next` is where it goes.
After(gone, next) ==
    IF watched.place = gone THEN next
    ELSE IF watched.place > gone THEN At(watched.where, watched.place - 1) ELSE watched

Place == call'.position + 1

\* Where it is after the step that `call'` tells of.
Moved ==
    LET isSent == Len(channel') > Len(channel)
        isTaken == Len(channel') < Len(channel)
        isMissed == Len(reports') > Len(reports)
        isHandled == Len(reports') < Len(reports)
        sent == IF isSent THEN At("channel", Len(channel')) ELSE Lost
    IN  CASE watched.where = "checked" /\ call'.op = "update" -> sent
          [] watched.where = "channel" /\ call'.op = "deliver" /\ isTaken ->
                After(Place, IF isMissed THEN At("reports", Len(reports')) ELSE Answered)
          [] watched.where = "channel" /\ call'.op \in {"abort", "drop"} /\ isTaken -> After(Place, Lost)
          [] watched.where = "channel" /\ call'.op = "restart-p1" -> Answered  \* it failed with its engine
          [] watched.where = "reports" /\ call'.op \in {"handle-report", "lose-report"} /\ isHandled ->
                After(Place, At("retries", Len(retries')))
          [] watched.where = "retries" /\ call'.op = "retry" -> After(Place, sent)
          [] OTHER -> watched

\* Any request that is accepted may be the one that is followed.
Chosen ==
    IF watched # Nowhere THEN {}
    ELSE IF call'.op \in {"submit", "bypass"} /\ Len(channel') > Len(channel) THEN {At("channel", Len(channel'))}
    ELSE IF call'.op = "check" /\ checked' # None THEN {At("checked", 0)} ELSE {}

WatchedNext == Next /\ watched' \in {Moved} \cup Chosen

WatchedSpec == Init /\ watched = Nowhere /\ [][WatchedNext]_<<vars, watched>>

FairSpec == WatchedSpec /\ ChannelDelivers /\ MissesAreFollowed

AskingSpec == FairSpec /\ ClientsAskAgain

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)
IsWaiting == watched.where \in {"checked", "channel", "reports", "retries"}

\* [DR-30] Every accepted request is eventually answered.
EventuallyAnswered == IsWaiting ~> watched = Answered

\* P0 claims a key that P1 does not have and that nothing on its way brings.
IsDrifted(key) ==
    /\ key \in KeysOf(Counted(sender, p0_number, p1_number))
    /\ key \notin KeysOf(Counted(receiver, p1_number, p0_number))
    /\ \A place \in DOMAIN channel : \A each \in DOMAIN channel[place].features :
        channel[place].features[each].sent => channel[place].features[each].item.key # key

\* [DR-31] Every drifted key is eventually repaired, where clients keep asking for it.
EventuallyRepaired == \A key \in {request[1].key : request \in Requests} : IsDrifted(key) ~> ~IsDrifted(key)
=============================================================================
