"""A sender and a receiver of a target inside the protocol, driven by `model/key_replicated.py`.

The protocol is that of `mmcache_ref.protocol`, but for what the target offers of it itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mmcache_ref import protocol
from mmcache_ref.model import accidents
from mmcache_ref.model import key_replicated as model
from mmcache_ref.model.component import Missed, Refused
from mmcache_ref.model.environment import Config
from mmcache_ref.model.pair import Request
from mmcache_ref.oracle.adapters.accounts import Accounts
from mmcache_ref.oracle.adapters.base import Payloads, need, observe_inner, offered_of
from mmcache_ref.oracle.namespace import call_with
from mmcache_ref.oracle.process_parts import INNER, pair_implementation, pair_recipe
from mmcache_ref.protocol.processes import Hosts, PairProcesses, RemoteCache

SENDER = "LruKeyReplicatedSenderCache"
RECEIVER = "LruKeyReplicatedReceiverCache"
SENDING = model.Submit | model.SubmitAgain | accidents.Update | accidents.Bypass
REPORTS = model.HandleReport | accidents.LoseReport
SECONDS = accidents.SecondFrontEnd | accidents.SecondEngine
CLEARS = accidents.ClearP0 | accidents.ClearBoth | accidents.FinishClear
RENUMBERING = accidents.FinishClear | accidents.RestartP1
PARTS = {"deployment": "Deployment", "front_end": "FrontEnd", "channel": "Channel", "engine": "Engine"}
"""What a target may offer of the protocol."""


class KeyReplicatedAdapter:
    """P0, P1, and what lies between."""

    def __init__(self, namespace: Any, config: Config, hosts: Hosts | None = None) -> None:
        need(namespace, SENDER, RECEIVER, "merge_mm_kwargs")
        self.payloads = Payloads(namespace)
        self.accounts = Accounts()
        offered = offered_of(namespace, PARTS)
        self.has_own_protocol = bool(offered)
        self.close: Callable[[], object] = lambda: None
        """Give back what it takes besides memory."""
        if hosts is None:
            offered["implementation"] = pair_implementation(
                namespace, self.payloads, config.budget, self._note_processed
            )
        else:
            processes = PairProcesses(hosts, pair_recipe(namespace, config.budget), kills=False)
            offered |= processes.parts()
            self.close = processes.close
        self.deployment: Any = call_with(
            offered.pop("deployment", protocol.Deployment), {"protections": config.protections, **offered}
        )
        self.is_mixed = False
        """Whether the last request that P0 updated is of several modalities."""
        self.repeats = 0
        """How many of its items have the hash of an earlier one."""
        self.decides_use_of_cache = "DR-15"
        """Which clause says whether P1 may ingest the last message: it is outdated, or was never recorded."""
        self.is_report = False
        """Whether the last operation told P0 of a miss, or should have."""
        self.is_renumbering = False
        """Whether the last operation gave P1 a number that follows from P0's, or should have."""
        self.is_invalidating = False
        """Whether the last report that P0 handled is of its present number."""

    def _note_processed(self) -> None:
        self.accounts.processed += 1

    def perform(self, operation: model.Operation) -> Any:
        """One step of P0, of P1, or of the environment."""
        number = self.deployment.front_end.number
        request = self._updated_by(operation)
        self.is_mixed = len({item.modality for item in request}) > 1
        self.repeats = len(request) - len(set(_keys(request)))
        self.is_report = isinstance(operation, REPORTS)
        self.is_renumbering = isinstance(operation, RENUMBERING)
        if isinstance(operation, model.HandleReport):
            report = self.deployment.reports[operation.position]
            is_old = "epoch" in self.deployment.protections and not (
                report.number <= number <= report.sent_under
            )
            self.is_invalidating = not is_old
        try:
            return self._perform(operation)
        finally:
            has_new_number = self.deployment.front_end.number != number
            if has_new_number and "epoch" in self.deployment.protections:
                self.accounts.sender_cleared()

    def _updated_by(self, operation: model.Operation) -> protocol.Request:
        """The request that P0 updates its cache with in this operation; none for most."""
        match operation:
            case model.Submit(request) | accidents.SecondEngine(request):
                return self._request(request)
            case model.SubmitAgain(position):
                return tuple(self.deployment.retries[position])
            case accidents.Update() if self.deployment.front_end.checked is not None:
                return tuple(self.deployment.front_end.checked.request)
        return ()

    def _perform(self, operation: model.Operation) -> Any:
        match operation:
            case accidents.Check(request):
                return self._unless_unsupplied(lambda: tuple(self.deployment.check(self._request(request))))
            case accidents.SecondFrontEnd(request):
                return self._unless_unsupplied(
                    lambda: self._second(self.deployment.second_front_end, request)
                )
            case accidents.SecondEngine(request):
                return self._unless_unsupplied(lambda: self._second(self.deployment.second_engine, request))
            case model.Deliver(position):
                message = self.deployment.channel.messages[position]
                self.decides_use_of_cache = "DR-15" if message.is_recorded else "DR-17"
                is_for_cache = self._is_for_cache(message)
                answer = self._answered(self.deployment.deliver(*_at(position)))
                if isinstance(answer, Missed):
                    self.accounts.missed()
                if answer is not False and not is_for_cache:
                    self.accounts.set_aside()
                return answer
            case model.SubmitAgain(position):
                self.accounts.retried()
                return self._sent(self._is_cached(operation), self.deployment.retry, *_at(position))
            case accidents.Update():
                return self._sent(self._is_cached(operation), self.deployment.update)
            case model.Submit(request) | accidents.Reject(request) | accidents.DryRun(request):
                operate = {
                    model.Submit: self.deployment.submit,
                    accidents.Reject: self.deployment.reject,
                    accidents.DryRun: self.deployment.dry_run,
                }[type(operation)]
                return self._sent(self._is_cached(operation), operate, self._request(request))
        return self._environment(operation)

    def _is_for_cache(self, message: Any) -> bool:
        """Whether P1 may ingest a message: not if it is outdated, or was never recorded."""
        protections = self.deployment.protections
        is_outdated = "epoch" in protections and message.number < self.deployment.engine.number
        return not (is_outdated or ("recorded-only" in protections and not message.is_recorded))

    def _is_cached(self, operation: Any) -> Sequence[bool]:
        """What the check of the operation's request has to say of each item."""
        front_end = self.deployment.front_end
        match operation:
            case accidents.Update():
                return tuple(front_end.checked.is_cached) if front_end.checked is not None else ()
            case model.SubmitAgain(position):
                keys = _keys(self.deployment.retries[position])
                if "resend-all" in self.deployment.protections:
                    return [False] * len(keys)
            case _:
                keys = tuple([item.key for item in operation.request])
        return tuple(front_end.sender.is_cached(list(keys)))

    def observe(self) -> Mapping[str, Any]:
        """Order, number and bytes of either side that has an LRU like upstream's; what lies between."""
        seen: dict[str, Any] = {}
        deployment = self.deployment
        sender = deployment.front_end.sender
        for side, cache in (("p0", sender), ("p1", deployment.engine.receiver)):
            inner = cache.observed()[INNER] if isinstance(cache, RemoteCache) else observe_inner(cache)
            seen |= {f"{side}.{name}": value for name, value in inner.items()}
            if "order" in inner:
                seen[f"{side}.length"] = len(inner["order"])
        if (statistics := self._statistics()) is not None:
            seen["p0.uncounted"] = self.accounts.uncounted(statistics)
        if self.is_report:
            seen["p0.number"] = deployment.front_end.number
        if self.is_renumbering:
            seen["p1.number"] = deployment.engine.number
        seen["checked"] = deployment.front_end.checked is not None
        seen["work"] = self.accounts.differing(self._work())
        seen["under-way"] = (
            len(deployment.channel.messages),
            len(deployment.reports),
            len(deployment.retries),
            deployment.channel.clearing,
        )
        seen["channel"] = tuple(
            [(message.number, _keys(message.request)) for message in deployment.channel.messages]
        )
        seen["reports"] = tuple(
            [(tuple(report.missing), report.number, report.sent_under) for report in deployment.reports]
        )
        return seen

    def also_decided_by(self, operation: model.Operation) -> list[str]:
        """The clauses that `blamed` may name for this operation, besides those that it is decided by."""
        if not self.has_own_protocol:
            return []
        protections = self.deployment.protections
        decisive = {
            "DR-05": isinstance(operation, model.HandleReport) and self.is_invalidating,
            "DR-08": isinstance(operation, model.Deliver),
            "DR-14": isinstance(operation, model.Deliver | accidents.FinishClear),
            self.decides_use_of_cache: isinstance(operation, model.Deliver),
            "DR-16": self.is_mixed and "one-order" in protections,
            "DR-18": isinstance(operation, REPORTS | CLEARS),
            "DR-23": isinstance(operation, model.SubmitAgain) and "resend-all" in protections,
            "DR-24": isinstance(operation, SENDING),
        }
        return [clause for clause, decides in decisive.items() if decides]

    def blamed(self, operation: model.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """The rule of the target's own protocol that decides what the operation's clause does not.

        P0's order after a request of several modalities (DR-16); what a retry claims (DR-23); whether P0
        forgets what was missed (DR-05); what is missed (DR-08); numbers of clears (DR-15); the order of
        sending (DR-14); what waits, and for what (DR-14, DR-18); what never got into the channel (DR-24).
        """
        if not self.has_own_protocol:
            return None
        protections = self.deployment.protections
        is_retry = isinstance(operation, model.SubmitAgain)
        is_outcome_of_retry = aspect == "outcome" and is_retry and "resend-all" in protections
        if is_outcome_of_retry and (isinstance(actual, Refused) or _claims(actual) > self.repeats):
            return "DR-23"
        is_of_p0 = aspect.startswith("p0.") or (aspect == "outcome" and isinstance(actual, tuple))
        if is_of_p0 and self.is_mixed and "one-order" in protections:
            return "DR-16"
        if is_outcome_of_retry and _claims(actual):
            return "DR-23"
        if aspect == "work" and isinstance(operation, model.Deliver) and _names(actual) == ["set_aside"]:
            return self.decides_use_of_cache
        if aspect == "outcome" and actual is False:
            # It waits, and nothing is there to wait for.
            return "DR-14" if isinstance(operation, model.Deliver | accidents.FinishClear) else "DR-18"
        if aspect == "p0.uncounted" and isinstance(operation, REPORTS | CLEARS):
            return "DR-15"  # P0 was cleared where it must not be, or was not
        if aspect.startswith("p0.") and isinstance(operation, model.HandleReport) and self.is_invalidating:
            return "DR-05"
        if aspect == "under-way" and isinstance(operation, CLEARS):
            return "DR-15"
        if aspect in ("under-way", "reports") and isinstance(operation, SECONDS):
            return "DR-21"
        if aspect == "outcome" and isinstance(expected, Missed) and isinstance(actual, Missed):
            return "DR-08"
        if aspect == "channel" and _numbers(expected) != _numbers(actual):
            return "DR-15" if len(expected) == len(actual) else None
        if aspect == "under-way" and isinstance(operation, SENDING) and actual[0] < expected[0]:
            return "DR-24"
        if aspect == "channel" and isinstance(operation, SENDING):
            return "DR-14"
        if aspect == "reports" and [each[0] for each in expected] == [each[0] for each in actual]:
            return "DR-15"
        return None

    def _request(self, request: Request) -> protocol.Request:
        return tuple(
            [protocol.RequestItem(item.key, item.content, item.modality, item.supplied) for item in request]
        )

    def _sent(self, is_cached: Sequence[bool], operate: Callable[..., Any], *arguments: Any) -> Any:
        """What P0 made of a request: for each item the content that is sent, or None."""

        def operated() -> Any:
            message = operate(*arguments)
            if message is None:
                return None
            sent = self._contents(message)
            self.accounts.sent(sent, is_cached)
            return sent

        return self._unless_unsupplied(operated)

    def _contents(self, message: Any) -> tuple[Any, ...]:
        """What a message carries for each item."""
        return tuple([self.payloads.content(feature.data) for feature in message.features])

    def _second(self, operate: Callable[[protocol.Request], Any], request: Request) -> Any:
        answer = operate(self._request(request))
        self._recount()
        return self._answered(answer)

    def _unless_unsupplied(self, operate: Callable[[], Any]) -> Any:
        """The result, or the hashes for the lack of which the request was refused (DR-02)."""
        try:
            return operate()
        except ValueError as error:
            if type(error).__name__ != protocol.UnsuppliedError.__name__:
                raise
            return Refused(tuple(error.mm_hashes))  # type: ignore[attr-defined]
        except AssertionError:
            self._recount()
            raise

    def _recount(self) -> None:
        """Take the deployment's own word where nothing says what it did."""
        self.accounts.take(self._statistics() or (0, 0), self._work())

    def _statistics(self) -> Sequence[int] | None:
        """Hits and lookups by the sender's own count; early releases have none."""
        make_stats = getattr(self.deployment.front_end.sender, "make_stats", None)
        return tuple(make_stats()) if make_stats is not None else None

    def _work(self) -> dict[str, int]:
        """What the deployment says that it cost; nothing where it counts nothing."""
        work = getattr(self.deployment, "work", None)
        counts = dict(work.report()) if work is not None else {}
        if isinstance(self.deployment.front_end.sender, RemoteCache):
            # The processor is in another process: nothing else counts there.
            self.accounts.processed = counts["processed"]
        return counts

    def _answered(self, answer: Any) -> Any:
        if answer is None:
            return False
        if answer.items is None:
            return Missed(tuple(map(str, answer.missing)))
        return tuple([self.payloads.content(item) for item in answer.items])

    def _environment(self, operation: model.Operation) -> Any:
        """A step without a request; False where it has to wait."""
        deployment = self.deployment
        steps: Mapping[type[Any], Callable[..., Any]] = {
            model.HandleReport: deployment.handle_report,
            accidents.Abort: deployment.abort,
            accidents.LoseReport: deployment.lose_report,
            accidents.ClearP0: deployment.clear_p0,
            accidents.ClearP1: deployment.clear_p1,
            accidents.ClearBoth: deployment.clear_both,
            accidents.FinishClear: deployment.finish_clear,
            accidents.RestartP1: deployment.restart_p1,
        }
        match operation:
            case accidents.Bypass(request):
                self.accounts.sent_unrecorded(self._contents(deployment.bypass(self._request(request))))
                return None
            case accidents.Drop(position):
                lost = deployment.channel.messages[position]
                deployment.drop(*_at(position))
                if "keep-data-until-sent" in deployment.protections:
                    self.accounts.resent(self._contents(lost))
                return None
            case _:
                if steps[type(operation)](*_at(getattr(operation, "position", 0))) is False:
                    return False
                if isinstance(operation, accidents.ClearP0 | accidents.ClearBoth):
                    self.accounts.sender_cleared()
                return None


def _at(position: int) -> tuple[int, ...]:
    """A place as an argument; the oldest is left to the target's own default."""
    return (position,) if position else ()


def _names(differing: tuple[tuple[str, int, int], ...]) -> list[str]:
    """Which work is not what it must be."""
    return [name for name, _, _ in differing]


def _claims(sent: Any) -> int:
    """Of how many of its items a message leaves out the data."""
    return sent.count(None) if isinstance(sent, tuple) else 0


def _keys(request: protocol.Request) -> tuple[str, ...]:
    return tuple([item.mm_hash for item in request])


def _numbers(channel: tuple[tuple[int, tuple[str, ...]], ...]) -> list[int]:
    """The numbers of the messages, whatever their order."""
    return sorted(number for number, _ in channel)
