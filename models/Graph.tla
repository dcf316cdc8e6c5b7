------------------------------- MODULE Graph -------------------------------
(* The state graph written out for mmcache_ref/tlc/graph.py: a line for each edge. *)
EXTENDS TLC

\* True; prints the state before a step, the step, and the state after it.
EdgeIsWritten(before, step, after) ==
    PrintT(ToString(<<"edge", ToString(before), ToString(step), ToString(after)>>))
=============================================================================
