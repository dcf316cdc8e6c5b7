---------------------------- MODULE CacheService ----------------------------
(* What a user of the whole system may see, whatever lies behind it. A request is answered with exactly the items
   that it named; or refused; or with a miss that names some of its items and can be tried again, but only after an
   engine forgot what it held, and only once: the retry is served. What an engine had not answered when it forgot may
   be tried again, too. Each cache stays within its budget.                                                 *)
EXTENDS Integers

(***************************************************************************)
(* Constants                                                               *)
(***************************************************************************)
CONSTANTS
    Requests,  \* what users ask for: sequences of items [key, content, ...]
    Budget,    \* bytes of each cache
    None       \* no value

(***************************************************************************)
(* Variables                                                               *)
(***************************************************************************)
VARIABLES
    open,         \* how many requests are under way, for each [request, tries]
    answer,       \* what the last step answered, or None
    used,         \* bytes in use, cache by cache
    hasForgotten  \* did an engine ever lose what it held?

vars == <<open, answer, used, hasForgotten>>

Init ==
    /\ open = [each \in {} |-> 0]
    /\ answer = None
    /\ \A cache \in DOMAIN used : used[cache] = 0
    /\ hasForgotten = FALSE

(***************************************************************************)
(* Actions                                                                 *)
(***************************************************************************)
Count(each) == IF each \in DOMAIN open THEN open[each] ELSE 0

\* The requests under way with some more or less of them.
Changed(more, less) ==
    LET Now(each) == Count(each) + (IF each \in more THEN 1 ELSE 0) - (IF each \in less THEN 1 ELSE 0)
    IN  [each \in {one \in DOMAIN open \cup more : Now(one) > 0} |-> Now(each)]

Try(request, number) == [request |-> request, tries |-> number]
KeysOf(request) == {request[place].key : place \in DOMAIN request}

Accept(request) ==
    /\ open' = Changed({Try(request, 1)}, {})
    /\ answer' = None
    /\ UNCHANGED hasForgotten

Refuse(request) ==
    /\ answer' = [kind |-> "refused", request |-> request]
    /\ UNCHANGED <<open, hasForgotten>>

\* [DR-07] [DR-10] [DR-12] With exactly the items that it named.
Serve(each) ==
    /\ open' = Changed({}, {each})
    /\ answer' = [kind |-> "served", request |-> each.request,
                  items |-> [place \in DOMAIN each.request |-> each.request[place].content]]
    /\ UNCHANGED hasForgotten

\* [DR-05] [DR-23] It will be tried again, once.
Miss(each) ==
    /\ hasForgotten /\ each.tries = 1
    /\ answer'.kind = "missed" /\ answer'.request = each.request
    /\ answer'.missing # {} /\ answer'.missing \subseteq KeysOf(each.request)
    /\ open' = Changed({Try(each.request, 2)}, {each})
    /\ UNCHANGED hasForgotten

\* [DR-15] [SC-44] An engine loses what it held, and perhaps ends: what it had not answered is then lost, or tried again.
Forget ==
    /\ hasForgotten' = TRUE
    /\ answer' = [kind |-> "forgotten"]
    /\ \A each \in DOMAIN open' :
        LET first == Try(each.request, 1)
            firstAfter == IF first \in DOMAIN open' THEN open'[first] ELSE 0
        IN  /\ firstAfter <= Count(first)
            /\ each.tries \in {1, 2}
            /\ each.tries = 2 => open'[each] <= Count(each) + Count(first) - firstAfter

\* [SC-38] Its client wants no answer any more.
Withdraw(each) ==
    /\ open' = Changed({}, {each})
    /\ answer' = [kind |-> "withdrawn", request |-> each.request]
    /\ UNCHANGED hasForgotten

Internal == answer' = None /\ UNCHANGED <<open, hasForgotten>>

\* [DR-11]
StaysWithinBudget == \A cache \in DOMAIN used' : used'[cache] \in 0..Budget

Next ==
    /\ StaysWithinBudget
    /\ \/ \E request \in Requests : Accept(request) \/ Refuse(request)
       \/ \E each \in DOMAIN open : Serve(each) \/ Withdraw(each) \/ (answer' # None /\ Miss(each))
       \/ Forget
       \/ Internal

Spec == Init /\ [][Next]_vars
=============================================================================
