------------------------------- MODULE Drift -------------------------------
(* What users of the key-replicated pair rely on: the clauses of spec/05-drift.md, as invariants of states and
   properties of steps. Each is judged from what can be seen: the state before and after, what was done, what
   was answered. The same in Python, under the same names: mmcache_ref/model/drift.py, recovery.py.         *)
EXTENDS KeyReplicated

(***************************************************************************)
(* Invariants                                                              *)
(***************************************************************************)
\* Nothing is under way: no message, miss, retry, half request or half clear.
IsQuiet == traffic = << <<>>, <<>>, <<>> >> /\ checked = None /\ clearing = 0

\* [DR-15] The entries of a side that count: with "epoch", none of a side whose number is older.
Counted(entries, number, other) == IF Keeps("epoch") /\ number < other THEN <<>> ELSE entries

\* [DR-06] Whenever nothing is under way, both sides hold the same keys in the same order.
SameOrder ==
    IsQuiet => KeyOrder(Counted(sender, p0_number, p1_number)) = KeyOrder(Counted(receiver, p1_number, p0_number))

\* [DR-11] Neither side holds more than its budget, or a key twice.
SoundCaches == IsSound(sender, Budget) /\ IsSound(receiver, Budget)

\* The course of a request that P1 misses while nothing else is under way: what both sides hold after its miss was
\* reported and it was sent once more, and whether that served it. None where it is refused, or not missed.
Recovered(request) ==
    LET Message(features, number) == [features |-> features, number |-> number, recorded |-> TRUE]
        merged == Merge(sender, request, IsCached(sender, request))
        taken == Taken(receiver, p1_number, Message(merged.features, p0_number))
        number == Max(p1_number, p0_number)
        told == Told(merged.entries, p0_number,
                     [missing |-> taken.missing, number |-> number, sent_under |-> p0_number])
        entries == BeforeRetry(told.entries, request)
        again == [place \in DOMAIN request |-> [request[place] EXCEPT !.supplied = TRUE]]
        second == Merge(entries, again, IsCached(entries, again))
        retaken == Taken(taken.entries, number, Message(second.features, number))
    IN  IF IsUnsupplied(sender, request) THEN None
        ELSE IF merged.features = None THEN None
        ELSE IF taken.missing = <<>> THEN None
        ELSE IF second.features = None THEN [sender |-> second.entries, receiver |-> taken.entries, isServed |-> FALSE]
        ELSE [sender |-> second.entries, receiver |-> retaken.entries, isServed |-> retaken.missing = <<>>]

\* [DR-09] What P1 misses while nothing else is under way, one retry serves, if it fits the budget.
OneRetry ==
    IsQuiet => \A request \in Requests :
        LET after == Recovered(request)
        IN  IF after = None \/ (~Keeps("keep-touched") /\ "oversize" \in Needs(request)) THEN TRUE ELSE after.isServed

\* [DR-25] After that both sides hold the same keys with the same content in the same order.
BackInStep ==
    IsQuiet => \A request \in Requests :
        LET after == Recovered(request) IN IF after = None THEN TRUE ELSE after.sender = after.receiver

(***************************************************************************)
(* Properties of steps                                                     *)
(***************************************************************************)
Did(op) == call'.op = op
IsUpdate == call'.op \in {"submit", "retry", "update"}
IsRefusal == call'.op \in {"reject", "dry-run"}
IsSecond == call'.op \in {"second-front-end", "second-engine"}

\* P1 took the message at this place.
IsTaken == call'.op = "deliver" /\ call'.kind \notin {"held-back", "awaits-clear"}
TakenPlace == call'.position + 1
TakenMessage == channel[TakenPlace]

\* [DR-02] A request with an item that is neither cached nor supplied changes nothing.
RefusedFirst ==
    [][(Did("submit") \/ Did("check") \/ IsRefusal) /\ IsUnsupplied(sender, call'.request)
        => UNCHANGED view]_vars

\* [DR-04] What P1 ingests is the oldest that was sent.
InOrder == [][IsTaken => channel' = Tail(channel)]_vars

\* [DR-05] After a report P0 claims none of the hashes that it names. With "epoch", a report of a message from before
\* P0's last clear says nothing of what P0 holds now.
AllInvalidated ==
    [][Did("handle-report") /\ call'.kind # "deferred" =>
        LET report == reports[TakenPlace]
        IN  \/ Keeps("epoch") /\ report.sent_under < p0_number
            \/ \A place \in DOMAIN report.missing : report.missing[place] \notin KeysOf(sender')]_vars

\* [DR-07] P1 never misses.
NoMiss == [][IsTaken => call'.missing = <<>>]_vars

(* What P1 can serve, worked out without moving entries: `alive` and `promised` are sets of [key, age, nbytes], in
   which a larger age is more recent. *)
RECURSIVE Bytes(_)
Bytes(set) == IF set = {} THEN 0 ELSE LET one == CHOOSE each \in set : TRUE IN one.nbytes + Bytes(set \ {one})

Of(set, key) == {each \in set : each.key = key}
NotOf(set, key) == {each \in set : each.key # key}

Staying(set, room) ==
    {each \in set : Bytes({other \in set : other.age >= each.age}) <= room}

RECURSIVE Unserved(_, _, _, _)
Unserved(alive, promised, features, place) ==
    IF place > Len(features) THEN <<>>
    ELSE LET key == features[place].item.key
             isSent == features[place].sent
             known == IF Of(alive, key) # {} THEN Of(alive, key) ELSE Of(promised, key)
             nbytes == IF isSent THEN features[place].item.content.nbytes ELSE (CHOOSE each \in known : TRUE).nbytes
             entry == [key |-> key, age |-> Len(features) + place, nbytes |-> nbytes]
             others == NotOf(alive, key)
             after == IF nbytes > Budget THEN others ELSE Staying(others, Budget - nbytes) \cup {entry}
         IN  IF ~isSent /\ known = {}
             THEN <<key>> \o Unserved(alive, promised, features, place + 1)
             ELSE Unserved(after, IF isSent THEN NotOf(promised, key) ELSE promised, features, place + 1)

UnservedOf(held, features) ==
    LET Named(key) == {place \in DOMAIN features : features[place].item.key = key}
        Latest(places) == CHOOSE place \in places : \A other \in places : other <= place
        Age(place) == IF Named(held[place][1]) = {} THEN place - Len(held) ELSE Latest(Named(held[place][1]))
        alive == {[key |-> held[place][1], age |-> Age(place), nbytes |-> held[place][2].nbytes] :
                    place \in DOMAIN held}
    IN  Unserved(alive, IF Keeps("keep-touched") THEN alive ELSE {}, features, 1)

\* The keys that come without data, not even earlier in the same message.
Unbrought(features) ==
    LET places == SelectSeq(PlacesOf(features), LAMBDA place :
            \A early \in 1..place : features[early].sent => features[early].item.key # features[place].item.key)
    IN  [number \in DOMAIN places |-> features[places[number]].item.key]

\* [DR-08] A miss names exactly the items that P1 could not serve, in order.
ExactMiss ==
    [][IsTaken =>
        LET held == IF Keeps("epoch") /\ TakenMessage.number > p1_number THEN <<>> ELSE receiver
            isUncached == \/ Keeps("epoch") /\ TakenMessage.number < p1_number
                          \/ Keeps("recorded-only") /\ ~TakenMessage.recorded
        IN  call'.missing = IF isUncached THEN Unbrought(TakenMessage.features)
                            ELSE UnservedOf(held, TakenMessage.features)]_vars

HasContent(Content(_)) ==
    IsTaken /\ call'.missing = <<>> =>
        /\ Len(call'.served) = Len(TakenMessage.features)
        /\ \A place \in DOMAIN call'.served : call'.served[place] = Content(TakenMessage.features[place])

\* [DR-10] What is served has the content that was requested.
AsRequested == [][HasContent(LAMBDA feature : feature.item.content)]_vars

\* [DR-20] What is served has the content that P0 accounted for when it sent the request.
AsAccounted == [][HasContent(LAMBDA feature : feature.accounted)]_vars

\* [DR-12] No insertion of a request takes away what the request itself was promised.
NoAssertion == [][IsUpdate \/ IsRefusal \/ IsSecond => call'.kind # "asserted"]_vars

\* [DR-13] What is new in P0 was handed to the channel with its data; a refusal leaves P0 as it was.
OnlyWhatWasSent ==
    [][(IsUpdate \/ IsRefusal) /\ sender' # sender =>
        /\ Len(channel') > Len(channel)
        /\ LET features == channel'[Len(channel')].features
               sent == {features[place].item.key : place \in {each \in DOMAIN features : features[each].sent}}
           IN  KeysOf(sender') \subseteq KeysOf(sender) \cup sent]_vars

\* [DR-14] No claim arrives before the data it relies on.
NoOvertaking ==
    [][IsTaken =>
        \A early \in 1..(TakenPlace - 1) :
            \A brings \in DOMAIN channel[early].features, claims \in DOMAIN TakenMessage.features :
                channel[early].features[brings].sent /\ ~TakenMessage.features[claims].sent
                => channel[early].features[brings].item.key # TakenMessage.features[claims].item.key]_vars

\* [DR-15] Once both sides know of the same clear, nothing from before it is claimed. It can tell only when no other
\* accident makes P1 miss.
ClearsAreSeen ==
    [][IsTaken /\ TakenMessage.number > 0 => call'.missing = <<>> \/ TakenMessage.number < p1_number]_vars

\* [DR-16] P0 leaves the items of a request in the order of the message.
OneOrder ==
    [][IsUpdate /\ Len(channel') > Len(channel) =>
        LET features == channel'[Len(channel')].features
            last == {place \in DOMAIN features :
                        \A later \in (place + 1)..Len(features) : features[later].item.key # features[place].item.key}
        IN  \A one, other \in last : \A first, second \in DOMAIN sender' :
                sender'[first][1] = features[one].item.key /\ sender'[second][1] = features[other].item.key
                => (first < second <=> one < other)]_vars

\* [DR-17] A message that P0 did not record stores nothing in P1.
StoresRecorded == [][IsTaken /\ ~TakenMessage.recorded => receiver' \in {receiver, <<>>}]_vars

\* [DR-18] No request fails because a hash was invalidated between its check and its update.
Undisturbed ==
    [][Did("update") /\ call'.kind \in {"asserted", "invalidated"} =>
        \A place \in DOMAIN checked.request :
            checked.cached[place] => checked.request[place].key \in KeysOf(sender)]_vars

\* [DR-19] P0 has handled the miss before the retry.
ToldFirst == [][Did("retry") => retries[TakenPlace].told]_vars

\* [DR-21] What goes to another P1, or comes from another P0, changes nothing in this pair.
OnePeer == [][IsSecond => UNCHANGED caches]_vars

\* [DR-22] What is aborted stays in the channel until P1 takes it.
AbortedArrive == [][Did("abort") => UNCHANGED channel]_vars

\* [DR-24] What is lost on its way is still to arrive.
LostArrive == [][Did("drop") => UNCHANGED channel]_vars
=============================================================================
