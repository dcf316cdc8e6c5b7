------------------------------- MODULE MCLru -------------------------------
(* Lru as TLC checks it: the graph written out, and rules that are broken on purpose.  `call` stays out of VIEW, *)
(* since no action and no invariant reads it; properties of steps do, and TLC asks them of every step.          *)
EXTENDS Lru, Graph

\* An action constraint that writes the graph.
Edge == EdgeIsWritten(view, call', view')

(***************************************************************************)
(* Twins: each .cfg that must fail puts one of these in a rule's place.    *)
(***************************************************************************)
\* For Stored: as if everything fitted.
StoredWithoutEviction(key, nbytes) ==
    [entries |-> Append(Without(entries, {key}), [key |-> key, size |-> nbytes]),
     pins |-> pins, kind |-> "stored"]

\* For Stored: a new value stands beside the old one.
StoredBesideTheOldValue(key, nbytes) ==
    IF Bytes(entries) + nbytes <= Budget
    THEN [entries |-> Append(entries, [key |-> key, size |-> nbytes]), pins |-> pins, kind |-> "stored"]
    ELSE [entries |-> entries, pins |-> pins, kind |-> "too_large"]

\* For Stored: the new value becomes the least recent.
StoredAsLeastRecent(key, nbytes) ==
    IF ~IsCached(key) /\ Bytes(entries) + nbytes <= Budget
    THEN [entries |-> <<[key |-> key, size |-> nbytes]>> \o entries, pins |-> pins, kind |-> "stored"]
    ELSE [entries |-> entries, pins |-> pins, kind |-> "too_large"]

\* For Stored: an eviction gives up at once where any key is pinned.
StoredUnlessPinned(key, nbytes) ==
    IF Bytes(entries) + nbytes > Budget
    THEN [entries |-> entries, pins |-> pins, kind |-> IF pins = {} THEN "too_large" ELSE "all_pinned"]
    ELSE [entries |-> Append(Without(entries, {key}), [key |-> key, size |-> nbytes]),
          pins |-> pins, kind |-> "stored"]

\* For TakeOut: what leaves stays pinned.
TakeOutButKeepPin(keys) ==
    /\ entries' = Without(entries, keys)
    /\ pins' = pins

\* For Evictable: pins do not protect.
EverythingEvictable == entries

\* For Evictable: the most recent goes first.
MostRecentFirst ==
    LET unpinned == SelectSeq(entries, LAMBDA entry : entry.key \notin pins)
    IN  [i \in 1..Len(unpinned) |-> unpinned[Len(unpinned) + 1 - i]]

\* For Fewest: everything that may be evicted is.
AsManyAsThereAre(nbytes) == Len(Evictable)

\* For Touch: an absent key leaves an entry in the order (D06).
TouchOrGhost(key) ==
    /\ entries' = IF IsCached(key)
                  THEN Append(Without(entries, {key}), entries[Place(entries, key)])
                  ELSE Append(entries, [key |-> key, size |-> 0])
    /\ pins' = pins
    /\ call' = [op |-> "touch", key |-> key, kind |-> HitOrMiss(key)]

\* For Touched: what was absent gets a size that no value has.
TouchedOrUntyped(key) ==
    IF IsCached(key)
    THEN Append(Without(entries, {key}), entries[Place(entries, key)])
    ELSE Append(entries, [key |-> key, size |-> -1])
=============================================================================
