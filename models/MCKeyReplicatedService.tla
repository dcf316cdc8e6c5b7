----------------------- MODULE MCKeyReplicatedService -----------------------
(* The refinement as TLC checks it, with the requests of the presets. `answer` and `call` stay out of VIEW: no action
   reads them, and TLC asks the refinement of every step. *)
EXTENDS KeyReplicatedService, KeyReplicatedRequests
=============================================================================
