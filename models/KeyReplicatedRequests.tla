------------------------ MODULE KeyReplicatedRequests ------------------------
(* The requests of the presets `tiny` and `small` of mmcache_ref/model/environment.py; and a few of them, for what is
   costly to check. *)
EXTENDS Integers, Sequences

Item(key, nbytes) ==
    [key |-> key, content |-> [nbytes |-> nbytes, fill |-> 0], supplied |-> TRUE, modality |-> "image"]

OtherContent(item) == [item EXCEPT !.content.nbytes = 2, !.content.fill = 1]
LeftOut(item) == [item EXCEPT !.supplied = FALSE]
Video(item) == [item EXCEPT !.modality = "video"]

TinyRequests ==
    LET a == Item("a", 1)
        b == Item("b", 1)
        c == Item("c", 1)
        d == Item("d", 3)
    IN  << <<a>>, <<b, c>>, <<c>>, <<LeftOut(a)>>, <<OtherContent(a)>>, <<b, c, a>>, <<d>>, <<Video(c), b>> >>

FewRequests == << <<Item("a", 1)>>, <<Item("b", 1)>> >>

SmallRequests ==
    LET a == Item("a", 1)
        b == Item("b", 1)
        c == Item("c", 2)
        d == Item("d", 1)
        e == Item("e", 4)
    IN  << <<a>>, <<b>>, <<c>>, <<d>>, <<a, b>>, <<d, a, d>>, <<c, a>>, <<b, d>>, <<LeftOut(b)>>, <<OtherContent(a)>>,
           <<b, c, a>>, <<e>>, <<d, Video(a), b>> >>
=============================================================================
