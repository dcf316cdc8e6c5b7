-------------------------------- MODULE Lru --------------------------------
(***************************************************************************)
(* The byte-budgeted LRU.                                                  *)
(*                                                                         *)
(* spec/02-lru.md says what must hold; mmcache_ref/model/lru.py is the     *)
(* same model in Python, action by action.  One action is one call of the  *)
(* API.  Counters, values, and calls that only read are left out.          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

(***************************************************************************)
(* Constants                                                               *)
(***************************************************************************)
CONSTANTS
    Budget,  \* the bytes that the cache may hold
    Keys,    \* what values are cached under
    Sizes    \* the bytes of the values that are tried

ASSUME /\ Budget \in Nat
       /\ Sizes \subseteq Nat

(***************************************************************************)
(* Variables                                                               *)
(*                                                                         *)
(*   TLA+      Python model           event log     reference              *)
(*   entries   State.entries          holds of p0   LRUCache._entries      *)
(*   pins      State.pins             -             LRUCache.pinned_items  *)
(*   call      Operation, Outcome     did, saw      the call itself        *)
(***************************************************************************)
VARIABLES
    entries,  \* <<[key, size], ...>>, the least recent first
    pins,     \* the keys that are never chosen for eviction
    call      \* the call that was just made, and its kind; no action reads it

view == <<entries, pins>>
vars == <<entries, pins, call>>

Entry == [key : Keys, size : Sizes]

(***************************************************************************)
(* Entries                                                                 *)
(***************************************************************************)
KeysOf(es) == {es[i].key : i \in DOMAIN es}

Bytes(es) ==
    LET upTo[i \in 0..Len(es)] == IF i = 0 THEN 0 ELSE upTo[i - 1] + es[i].size
    IN  upTo[Len(es)]

Without(es, keys) == SelectSeq(es, LAMBDA entry : entry.key \notin keys)

\* The place of a key that is cached.
Place(es, key) == CHOOSE i \in DOMAIN es : es[i].key = key

IsCached(key) == key \in KeysOf(entries)

SizeOf(key) == entries[Place(entries, key)].size

\* [LRU-05] [LRU-07] [LRU-09] A cached key becomes the most recent; any other changes nothing.
Touched(key) ==
    IF IsCached(key)
    THEN Append(Without(entries, {key}), entries[Place(entries, key)])
    ELSE entries

(***************************************************************************)
(* Eviction                                                                *)
(***************************************************************************)
\* [LRU-19] The entries that may be evicted, the least recent first.
Evictable == SelectSeq(entries, LAMBDA entry : entry.key \notin pins)

\* [LRU-13] The keys of the `count` least recent ones.
Victims(count) == {Evictable[i].key : i \in 1..count}

Fits(nbytes, count) == Bytes(Without(entries, Victims(count))) + nbytes <= Budget

\* [LRU-13] One by one, only while the new value does not fit.
Enough(nbytes) == {count \in 0..Len(Evictable) : Fits(nbytes, count)}
Fewest(nbytes) == CHOOSE count \in Enough(nbytes) : \A other \in Enough(nbytes) : count <= other

\* Was a pinned key passed over to reach the last of the victims?
PassedPin(count) ==
    /\ count > 0
    /\ \E i \in 1..Place(entries, Evictable[count].key) : entries[i].key \in pins

\* [LRU-13] [LRU-14] [LRU-15] [LRU-16] [LRU-21] [LRU-22] What storing a value comes to.
Stored(key, nbytes) ==
    LET isNew   == ~IsCached(key)
        isGrown == IsCached(key) /\ nbytes > SizeOf(key)
        count   == IF isNew \/ isGrown THEN Fewest(nbytes) ELSE 0
        kept    == Without(entries, Victims(count))
        kind    == IF isNew
                   THEN CASE PassedPin(count) -> "evicted_around_pin"
                          [] count > 0 -> "evicted"
                          [] OTHER -> "stored"
                   ELSE CASE count > 0 -> "grown"
                          [] key \in pins -> "replaced_pinned"
                          [] OTHER -> "replaced"
    IN  CASE nbytes > Budget ->
                [entries |-> entries, pins |-> pins, kind |-> "too_large"]
          [] nbytes <= Budget /\ (isNew \/ isGrown) /\ Enough(nbytes) = {} ->
                [entries |-> Without(entries, KeysOf(Evictable)), pins |-> pins, kind |-> "all_pinned"]
          [] OTHER ->
                [entries |-> Append(Without(kept, {key}), [key |-> key, size |-> nbytes]),
                 pins |-> pins \ Victims(count), kind |-> kind]

(***************************************************************************)
(* Removal                                                                 *)
(***************************************************************************)
\* [LRU-23] What removing the oldest chooses from; at most one key.
Removable(removePinned) == IF removePinned THEN entries ELSE Evictable

Oldest(removePinned) ==
    IF Removable(removePinned) = <<>> THEN {} ELSE {Removable(removePinned)[1].key}

(***************************************************************************)
(* What a call is answered                                                 *)
(***************************************************************************)
HitOrMiss(key) == IF IsCached(key) THEN "hit" ELSE "miss"

Removal(key) ==
    CASE ~IsCached(key) -> "miss"
      [] IsCached(key) /\ key \in pins -> "removed_pinned"
      [] OTHER -> "removed"

OldestRemoval(removePinned) ==
    CASE entries = <<>> -> "empty"
      [] entries # <<>> /\ Removable(removePinned) = <<>> -> "all_pinned"
      [] OTHER -> Removal(Removable(removePinned)[1].key)

(***************************************************************************)
(* Actions                                                                 *)
(***************************************************************************)
Init ==
    /\ entries = <<>>
    /\ pins = {}
    /\ call = [op |-> "initial"]

\* [LRU-04]
Contains(key) ==
    /\ UNCHANGED view
    /\ call' = [op |-> "contains", key |-> key, kind |-> HitOrMiss(key)]

LookUp(key) ==
    /\ entries' = Touched(key)
    /\ pins' = pins

\* [LRU-05] [LRU-06]
GetItem(key) ==
    /\ LookUp(key)
    /\ call' = [op |-> "getitem", key |-> key, kind |-> HitOrMiss(key)]

\* [LRU-07] [LRU-08]
Get(key) ==
    /\ LookUp(key)
    /\ call' = [op |-> "get", key |-> key, kind |-> HitOrMiss(key)]

\* [LRU-09] [LRU-10]
Touch(key) ==
    /\ LookUp(key)
    /\ call' = [op |-> "touch", key |-> key, kind |-> HitOrMiss(key)]

TakeOut(keys) ==
    /\ entries' = Without(entries, keys)
    /\ pins' = pins \ keys

\* [LRU-11]
Pop(key) ==
    /\ TakeOut({key})
    /\ call' = [op |-> "pop", key |-> key, kind |-> Removal(key)]

\* [LRU-12]
Delete(key) ==
    /\ TakeOut({key})
    /\ call' = [op |-> "del", key |-> key, kind |-> Removal(key)]

Store(key, nbytes) ==
    /\ entries' = Stored(key, nbytes).entries
    /\ pins' = Stored(key, nbytes).pins

\* [LRU-13] [LRU-14] [LRU-15] [LRU-16] [LRU-21]
Put(key, nbytes) ==
    /\ Store(key, nbytes)
    /\ call' = [op |-> "put", key |-> key, nbytes |-> nbytes, kind |-> Stored(key, nbytes).kind]

\* [LRU-17]
PutIfFits(key, nbytes) ==
    /\ Store(key, nbytes)
    /\ call' = [op |-> "put_if_fits", key |-> key, nbytes |-> nbytes, kind |-> Stored(key, nbytes).kind]

\* [LRU-19] [LRU-20]
Pin(key) ==
    /\ entries' = entries
    /\ pins' = IF IsCached(key) THEN pins \cup {key} ELSE pins
    /\ call' = [op |-> "pin", key |-> key, kind |-> IF IsCached(key) THEN "pinned" ELSE "miss"]

\* [LRU-21] [LRU-23]
RemoveOldest(removePinned) ==
    /\ TakeOut(Oldest(removePinned))
    /\ call' = [op |-> "remove_oldest", remove_pinned |-> removePinned, kind |-> OldestRemoval(removePinned)]

\* [LRU-21] [LRU-24] [LRU-25]
PopItem(removePinned) ==
    /\ TakeOut(Oldest(removePinned))
    /\ call' = [op |-> "popitem", remove_pinned |-> removePinned, kind |-> OldestRemoval(removePinned)]

\* [LRU-26]
Clear ==
    /\ entries' = <<>>
    /\ pins' = {}
    /\ call' = [op |-> "clear", kind |-> "cleared"]

Next ==
    \/ \E key \in Keys :
        \/ Contains(key)
        \/ GetItem(key)
        \/ Get(key)
        \/ Touch(key)
        \/ Pop(key)
        \/ Delete(key)
        \/ Pin(key)
        \/ \E nbytes \in Sizes : Put(key, nbytes) \/ PutIfFits(key, nbytes)
    \/ \E removePinned \in BOOLEAN : RemoveOldest(removePinned) \/ PopItem(removePinned)
    \/ Clear

(***************************************************************************)
(* Specification                                                           *)
(***************************************************************************)
Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Invariants                                                              *)
(***************************************************************************)
TypeOK ==
    /\ entries \in Seq(Entry)
    /\ pins \subseteq Keys

\* [LRU-01] The bytes never exceed the budget.
WithinBudget == Bytes(entries) <= Budget

\* [LRU-02] Each key is there once.
KeysDiffer == Cardinality(KeysOf(entries)) = Len(entries)

\* [LRU-22] Only what is cached is pinned.
PinsAreCached == pins \subseteq KeysOf(entries)

(***************************************************************************)
(* Properties of steps                                                     *)
(***************************************************************************)
\* The keys that leave the cache in a step.
Gone == KeysOf(entries) \ KeysOf(entries')

IsStoring == call'.op \in {"put", "put_if_fits"}

\* [LRU-04] [LRU-06] [LRU-08] [LRU-10] [LRU-16] [LRU-20] What misses, is refused or only asks changes nothing.
RefusedChangesNothing ==
    [][call'.kind \in {"miss", "too_large", "empty"} \/ call'.op = "contains" => UNCHANGED view]_vars

\* [LRU-19] No eviction takes a pinned key.
PinsStay == [][IsStoring => Gone \cap pins = {}]_vars

\* [LRU-13] What is evicted is less recent than every unpinned entry that stays.
OldestLeaveFirst ==
    [][IsStoring => \A gone \in Gone : \A kept \in (KeysOf(entries') \ pins) \cap KeysOf(entries) :
            kept = call'.key \/ Place(entries, gone) < Place(entries, kept)]_vars

\* [LRU-13] No more is evicted than is needed: with the last victim the value would not have fitted.
NoMoreThanNeeded ==
    [][IsStoring /\ call'.kind # "all_pinned" => \A gone \in Gone :
            (\A other \in Gone : Place(entries, other) <= Place(entries, gone))
            => Bytes(Without(entries, Gone \ {gone})) + call'.nbytes > Budget]_vars

\* [LRU-13] [LRU-14] What was stored is the most recent.
StoredIsMostRecent ==
    [][IsStoring /\ call'.kind \notin {"too_large", "all_pinned"}
        => entries' # <<>> /\ entries'[Len(entries')] = [key |-> call'.key, size |-> call'.nbytes]]_vars

\* [LRU-18] [LRU-21] An eviction that fails leaves nothing but pinned entries.
EvictionEnds == [][call'.kind = "all_pinned" => KeysOf(entries') = pins']_vars
=============================================================================
