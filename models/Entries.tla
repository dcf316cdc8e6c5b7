------------------------------ MODULE Entries ------------------------------
(* Cached entries as a sequence of <<key, content>>, least recent first: the moves every cache is made of.
   A content is a record [nbytes, fill].

   TLA+            Python model               reference
   KeysOf          entries.keys, as a set     LRUCache.__contains__
   ContentOf       entries.find               LRUCache.get
   SizeOf          entries.size               LRUCache.currsize
   Without         entries.remove             LRUCache.pop
   Touched         entries.touch              LRUCache.touch
   Inserted        entries.put                LRUCache.__setitem__                                       *)
EXTENDS Integers, Sequences

KeysOf(entries) == {entries[place][1] : place \in DOMAIN entries}

\* [LRU-02]
KeyOrder(entries) == [place \in DOMAIN entries |-> entries[place][1]]

ContentOf(entries, key) == entries[CHOOSE place \in DOMAIN entries : entries[place][1] = key][2]

\* [LRU-01]
RECURSIVE SizeOf(_)
SizeOf(entries) ==
    IF entries = <<>> THEN 0 ELSE Head(entries)[2].nbytes + SizeOf(Tail(entries))

Without(entries, key) == SelectSeq(entries, LAMBDA entry : entry[1] # key)

\* [LRU-09] [LRU-10]
Touched(entries, key) ==
    IF key \in KeysOf(entries)
    THEN Append(Without(entries, key), <<key, ContentOf(entries, key)>>)
    ELSE entries

RECURSIVE Evicted(_, _)
Evicted(entries, room) == IF SizeOf(entries) <= room THEN entries ELSE Evicted(Tail(entries), room)

\* [LRU-13] [LRU-16] Insert a key that is not cached; an item larger than the budget changes nothing.
Inserted(entries, budget, key, content) ==
    IF content.nbytes > budget
    THEN entries
    ELSE Append(Evicted(entries, budget - content.nbytes), <<key, content>>)

\* [DR-11] The sizes fit the budget and no key is there twice.
IsSound(entries, budget) ==
    /\ SizeOf(entries) <= budget
    /\ \A one, other \in DOMAIN entries : entries[one][1] = entries[other][1] => one = other
=============================================================================
