---------------------------- MODULE ShmRequests ----------------------------
(* The requests of the presets `tiny`, `small` and `low-limit` of mmcache_ref/model/shm_environment.py; and a few of them, for what is
   costly to check. *)
EXTENDS Integers, Sequences

Asking(key, nbytes, fill) == [key |-> key, content |-> [nbytes |-> nbytes, fill |-> fill], supplied |-> TRUE]
LeftOut(item) == [item EXCEPT !.supplied = FALSE]

a == Asking("a", 1, 1)
b == Asking("b", 2, 2)
c == Asking("c", 1, 3)
d == Asking("d", 3, 4)
e == Asking("e", 1, 5)

TinyRequests == {<<a>>, <<b>>, <<LeftOut(a)>>, <<d>>}

SmallRequests == {<<a>>, <<b>>, <<c>>, <<b, a>>, <<a, c, a>>, <<LeftOut(c)>>, <<d>>}

\* Where the limit is one unit and the ring has two: a third item takes the place of both, and the last is too large.
LowLimitRequests == {<<a>>, <<c>>, <<e>>, <<b>>}

\* One item at a time has room in a ring of two units.
FewRequests == {<<a>>, <<b>>}
OneRequest == {<<a>>}

\* Both have.
TwoThatFit == {<<a>>, <<c>>}
=============================================================================
