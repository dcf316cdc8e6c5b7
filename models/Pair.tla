-------------------------------- MODULE Pair --------------------------------
(* What one request does to each side of a key-replicated pair, as functions of values.

   item      [key, content, supplied, modality]       a request is a sequence of items, in prompt order
   feature   [item, sent, accounted]                  a message carries one for each item, in prompt order

   TLA+                Python model                   reference
   IsCached            pair.check                     BaseMultiModalProcessorCache.is_cached
   Merge               pair.merge                     merge.merge_mm_kwargs over LruKeyReplicatedSenderCache
   Ingest              pair.ingest                    BaseMultiModalReceiverCache.get_and_update_features
   ServedUncached      pair.serve_without_cache       protocol.Engine                                    *)
EXTENDS Entries

CONSTANTS
    Budget,       \* bytes that either side may hold
    KeepTouched,  \* does either side keep what a request pushes out itself?          [KR-13] [KR-14]
    Grouped,      \* does P0 update modality by modality?                             [DR-16]
    None          \* no value

Modalities == <<"audio", "image", "video">>  \* the order in which P0 updates when grouped

-----------------------------------------------------------------------------
(* P0 *)

\* [IF-06] What the check says of each item.
IsCached(entries, request) ==
    [place \in DOMAIN request |-> request[place].key \in KeysOf(entries)]

PlacesOf(request) == [place \in DOMAIN request |-> place]

\* [IF-11] [DR-16] The places of the items in the order of P0's updates.
UpdateOrder(request) ==
    LET Of(modality) == SelectSeq(PlacesOf(request), LAMBDA place : request[place].modality = modality)
    IN  IF Grouped
        THEN Of(Modalities[1]) \o Of(Modalities[2]) \o Of(Modalities[3])
        ELSE PlacesOf(request)

RECURSIVE AllTouched(_, _)
AllTouched(entries, keys) ==
    IF keys = <<>> THEN entries ELSE AllTouched(Touched(entries, Head(keys)), Tail(keys))

(* The rarest rule that the items of a request needed names what happened to it. *)
Kind(kinds) ==
    LET rare == SelectSeq(<<"asserted", "invalidated", "kept", "too-large", "missed">>, LAMBDA kind : kind \in kinds)
    IN  IF rare # <<>> THEN Head(rare)
        ELSE IF kinds = {"claimed"} THEN "claimed" ELSE IF kinds = {"sent"} THEN "sent" ELSE "mixed"

SentKind(content) == IF content.nbytes > Budget THEN "too-large" ELSE "sent"

\* [IF-12] [KR-02] [KR-03] [KR-04] [KR-05] [KR-13] [KR-15]
\* The updates of a merge step, one place after the other. `touched` is what P0 held as the request began. After
\* an assertion (`features` is None) what was recorded before stays.
RECURSIVE Updated(_, _, _, _, _, _, _)
Updated(entries, touched, features, kinds, request, cached, order) ==
    IF order = <<>> THEN [entries |-> entries, features |-> features, kind |-> Kind(kinds)]
    ELSE LET place == Head(order)
             item == [request[place] EXCEPT !.supplied = TRUE]
             Go(moved, sent, accounted, kind) ==
                 Updated(moved, touched,
                         [features EXCEPT ![place] = [item |-> item, sent |-> sent, accounted |-> accounted]],
                         kinds \cup {kind}, request, cached, Tail(order))
         IN  IF item.key \in KeysOf(entries)
             THEN Go(Touched(entries, item.key), FALSE, ContentOf(entries, item.key), "claimed")
             ELSE IF ~cached[place]
             THEN Go(Inserted(entries, Budget, item.key, item.content), TRUE, item.content,
                     SentKind(item.content))
             ELSE IF KeepTouched /\ item.key \in KeysOf(touched)
             THEN Go(Inserted(entries, Budget, item.key, ContentOf(touched, item.key)), FALSE,
                     ContentOf(touched, item.key), "kept")
             ELSE [entries |-> entries, features |-> None,
                   kind |-> IF item.key \in KeysOf(touched) THEN "asserted" ELSE "invalidated"]

\* [IF-10] [IF-12] The merge step: every hash is touched, then each item updated.
Merge(entries, request, cached) ==
    LET order == UpdateOrder(request)
        touched == AllTouched(entries, [number \in DOMAIN order |-> request[order[number]].key])
    IN  Updated(touched, touched, [place \in DOMAIN request |-> None], {}, request, cached, order)

-----------------------------------------------------------------------------
(* P1 *)

\* [KR-08] [KR-09] [KR-10] [KR-11] [KR-14] [KR-15] The updates of an ingested message, one feature after the other.
RECURSIVE Received(_, _, _, _, _, _)
Received(entries, kept, served, missing, kinds, features) ==
    IF features = <<>>
    THEN [entries |-> entries, served |-> served, missing |-> missing, kind |-> Kind(kinds)]
    ELSE LET feature == Head(features)
             key == feature.item.key
             Go(moved, keeps, content, kind) ==
                 Received(moved, keeps, Append(served, content), missing, kinds \cup {kind}, Tail(features))
         IN  IF feature.sent
             THEN Go(Inserted(Without(entries, key), Budget, key, feature.item.content), Without(kept, key),
                     feature.item.content, SentKind(feature.item.content))
             ELSE IF key \in KeysOf(entries)
             THEN Go(Touched(entries, key), kept, ContentOf(entries, key), "claimed")
             ELSE IF key \in KeysOf(kept)
             THEN Go(Inserted(entries, Budget, key, ContentOf(kept, key)), kept, ContentOf(kept, key), "kept")
             ELSE Received(entries, kept, served, Append(missing, key), kinds \cup {"missed"}, Tail(features))

\* [IF-13] [IF-14] [IF-15] [IF-16] `get_and_update_features`: `served` has the content of each feature that is not
\* missing, `missing` the key of each that is; what came with its data is stored either way.
Ingest(entries, features) ==
    LET touched == AllTouched(entries, [place \in DOMAIN features |-> features[place].item.key])
    IN  Received(touched, IF KeepTouched THEN touched ELSE <<>>, <<>>, <<>>, {}, features)

\* [DR-15] [DR-17] A message that P1's cache does not see is served from the data it brings itself.
ServedUncached(features) ==
    LET key(place) == features[place].item.key
        Bringing(place) == {early \in 1..place : features[early].sent /\ key(early) = key(place)}
        Latest(places) == CHOOSE place \in places : \A other \in places : other <= place
        brought == SelectSeq(PlacesOf(features), LAMBDA place : Bringing(place) # {})
        others == SelectSeq(PlacesOf(features), LAMBDA place : Bringing(place) = {})
    IN  [served |-> [number \in DOMAIN brought |->
                        features[Latest(Bringing(brought[number]))].item.content],
         missing |-> [number \in DOMAIN others |-> key(others[number])]]
=============================================================================
