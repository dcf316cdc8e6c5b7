------------------------- MODULE ShmCachesLiveness -------------------------
(* What happens in the end: every accepted request is answered, and every chunk can be reclaimed. A history variable
   follows one request, any one, on its way through the protocol.                                           *)
EXTENDS ShmProperties

(***************************************************************************)
(* Variables                                                               *)
(***************************************************************************)
VARIABLE
    watched  \* where the followed request is: [where, place], place counted from 1 where it stands in a sequence

watchedView == <<exactView, watched>>

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

\* How many of the messages up to this place are requests.
AskedUpTo(place) == Len(SelectSeq(SubSeq(channel, 1, place), LAMBDA message : ~message.is_release))

\* It ends with the worker that died, and is retried unless it is forgotten.
AfterDeath ==
    LET place == IF watched.where = "channel" THEN AskedUpTo(watched.place)
                 ELSE AskedUpTo(Len(channel)) + watched.place
    IN  IF Len(retries') > Len(retries) THEN At("retries", Len(retries) + place) ELSE Lost

\* Where it is after the step that `call'` tells of.
Moved ==
    LET isGone == Len(channel') < Len(channel)
        isRetried == Len(retries') > Len(retries)
        retried == At("retries", Len(retries'))
    IN  CASE watched.where \in {"channel", "running", "retries"} /\ is_dead' -> Lost
          [] watched.where = "channel" /\ Did("read") /\ isGone ->
                After(Place, IF isRetried THEN retried ELSE At("running", Len(running')))
          [] watched.where = "channel" /\ Did("abort") /\ isGone -> After(Place, Answered)  \* nobody waits any more
          [] watched.where = "channel" /\ Did("abort") /\ watched.place = Place -> Answered
          [] watched.where \in {"channel", "running"} /\ Did("worker-death") -> AfterDeath
          [] watched.where = "running" /\ Did("finish") -> After(Place, Answered)
          [] watched.where = "running" /\ Did("resume") /\ isRetried -> After(Place, retried)
          [] watched.where = "retries" /\ Did("retry") -> After(Place, At("channel", Len(channel')))
          [] OTHER -> watched

\* Any request that is accepted may be the one that is followed.
Chosen ==
    IF watched # Nowhere \/ Len(channel') <= Len(channel) THEN {}
    ELSE IF call'.op \in {"submit", "replay"} /\ ~channel'[Len(channel')].is_release
    THEN {At("channel", Len(channel'))} ELSE {}

WatchedNext == Next /\ watched' \in {Moved} \cup Chosen

WatchedSpec == Init /\ watched = Nowhere /\ [][WatchedNext]_<<vars, watched>>

FairSpec == WatchedSpec /\ WorkersRead /\ RequestsGoOn /\ WorkersLive

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)
IsWaiting == watched.where \in {"channel", "running", "retries"}

\* [SC-56] Every accepted request is eventually answered.
EventuallyAnswered == IsWaiting ~> watched = Answered

\* A chunk with this key that cannot be reclaimed.
IsHeld(key) ==
    \E place \in DOMAIN store.entries : store.entries[place].key = key /\ ~IsFree(store.entries[place])

AsksFor(key) ==
    \/ IsRequest /\ \E place \in DOMAIN call'.request : call'.request[place].key = key
    \/ Did("replay") /\ call'.key = key

\* [SC-57] Every chunk can eventually be reclaimed, unless its item is asked for again and again.
EventuallyReclaimable ==
    \A key \in Keys : ([]<><<AsksFor(key)>>_vars) \/ (IsHeld(key) ~> ~IsHeld(key))
=============================================================================
