"""Operations, results and states in words: one wording for every report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.pair_words import is_of_pair, pair_operation_in_words, pair_result_in_words
from mmcache_ref.oracle.ring_words import ring_in_words, ring_operation_in_words, ring_outcome_in_words
from mmcache_ref.oracle.shm_words import (
    carried_in_words,
    in_units,
    shm_operation_in_words,
    shm_state_in_words,
)
from mmcache_ref.oracle.store_words import store_operation_in_words, store_outcome_in_words


def operation_in_words(operation: Op, claimed: Collection[str] = ()) -> str:
    """An operation as its name and what it is given; of `claimed` keys the check said that they are cached,
    so a request names them without giving their data; so it does with stale ones, which are gone."""
    if (of_ring := ring_operation_in_words(operation)) is not None:
        return of_ring
    if (of_store := store_operation_in_words(operation)) is not None:
        return of_store
    if (of_shared := shm_operation_in_words(operation)) is not None:
        return of_shared
    if (of_pair := pair_operation_in_words(operation)) is not None:
        return of_pair
    words = [tag(operation)]
    stale = [key for key in getattr(operation, "stale", ()) if key not in claimed]
    for field in msgspec.structs.fields(operation):
        value = _named(getattr(operation, field.name))
        if field.name == "stale":
            continue
        if field.name == "request" and words != ["bypass"]:
            notes = dict.fromkeys(claimed, " (claimed)") | dict.fromkeys(stale, " (claimed, but gone)")
            items = [value_in_words(item) + notes.get(item["key"], "") for item in value]
            words.append(f"[{', '.join(items)}]")
        elif isinstance(value, bool):
            words += [f"{field.name}={value}"] if value != field.default else []
        elif field.name == "content" and value is None:
            words.append("without data")
        elif field.name == "withheld":
            words += [f"(the last {value} withheld)"] if value else []
        else:
            words.append(value_in_words(value))
    return " ".join(words).strip()


def claimed_keys(steps: Sequence[Any], place: int) -> Collection[str]:
    """The keys that P0 has cached before the step at that place of a run: what a check there claims."""
    state = steps[place - 1].state if place else {}
    return state.get("p0.order") or state.get("order") or ()


def _named(value: Any) -> Any:
    """The value as JSON has it, but with the names of named tuples kept."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _named(member) for name, member in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_named(member) for member in value]
    return msgspec.to_builtins(value)


def value_in_words(value: Any) -> str:
    """A part of an operation, of a result or of a state, given as JSON has it."""
    if isinstance(value, Mapping):
        return _mapping_in_words(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_in_words(member) for member in value) + "]"
    return "nothing" if value is None else str(value)


def result_in_words(result: Any) -> str:
    """What an operation gave its caller."""
    if not isinstance(result, Mapping):
        return value_in_words(result)
    if (of_pair := pair_result_in_words(result)) is not None:
        return of_pair
    match result.get("result"):
        case "raised":
            return ": ".join(filter(None, (result["error"], result["says"])))
        case "missed":
            return f"MultiModalCacheMissError({', '.join(result['hashes'])})"
        case "refused":
            return f"refused, for lack of {', '.join(result['hashes'])}"
        case "one_of":
            return " or ".join(map(result_in_words, result["results"]))
        case "updated" | "received":
            return _updated_in_words(result)
        case "ingested":
            served = value_in_words([None if item is None else item["item"] for item in result["items"]])
            return f"{served}, missing {', '.join(result['missed'])}" if result["missed"] else served
        case "carried":
            return carried_in_words(result)
        case "unexpected":
            return str(result["what"])
    return value_in_words(result)


def results_in_words(result: Any) -> str:
    """As `result_in_words`, also for an operation of several parts."""
    if isinstance(result, list | tuple) and any(isinstance(part, Mapping) for part in result):
        return "; ".join(map(result_in_words, result))
    return result_in_words(result)


def outcome_in_words(operation: Op, result: Any) -> str:
    """As `results_in_words`, with what a number counts where the operation tells."""
    if (of_ring := ring_outcome_in_words(operation, result)) is not None:
        return of_ring
    if (of_store := store_outcome_in_words(operation, result)) is not None:
        return of_store
    if is_of_pair(operation) or shm_operation_in_words(operation) is not None:
        return in_units(results_in_words(result))
    unit = {"kept": " B kept alive", "size": " B", "cached_size": " B", "complexity": " leaves"}.get(
        tag(operation)
    )
    is_count = isinstance(result, int | float) and not isinstance(result, bool)
    return results_in_words(result) + (unit if unit and is_count else "")


def state_in_words(state: Mapping[str, Any]) -> str:
    """The keys in eviction order, least recent first, of each side; of a single cache also the bytes; of a
    ring its chunks."""
    parts = [whole] if (whole := ring_in_words(state) or shm_state_in_words(state)) else []
    for name, value in state.items():
        side, _, aspect = name.rpartition(".")
        if aspect == "order":
            parts.append(f"{side.upper()} {' '.join(map(str, value)) or 'empty'}".strip())
        elif aspect == "bytes" and not side:
            parts.append(f"{value} B")
    return ", ".join(parts)


def counted(count: int, noun: str) -> str:
    """So many of something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ranges(identifiers: Iterable[str]) -> str:
    """Clause ids, with neighbours drawn together: `LRU-01…LRU-05, LRU-07`."""
    groups: list[list[str]] = []
    for identifier in sorted(identifiers):
        prefix, _, number = identifier.rpartition("-")
        if groups:
            last_prefix, _, last_number = groups[-1][-1].rpartition("-")
            if last_prefix == prefix and int(last_number) + 1 == int(number):
                groups[-1].append(identifier)
                continue
        groups.append([identifier])
    return ", ".join(group[0] if len(group) == 1 else f"{group[0]}…{group[-1]}" for group in groups)


def _mapping_in_words(value: Mapping[str, Any]) -> str:
    if "value" in value:
        return _description_in_words(value)
    if "budget_bytes" in value:
        return _configuration_in_words(value)
    if value.keys() == {"nbytes", "fill"}:
        return f"{value['nbytes']} B/{value['fill']}"
    if value.keys() == {"key", "content", "modality"}:
        kind = "" if value["modality"] == "image" else f" ({value['modality']})"
        return f"{value['key']} {value_in_words(value['content'])}{kind}"
    if value.keys() == {"key", "content", "supplied", "modality"}:
        kind = "" if value["modality"] == "image" else f" ({value['modality']})"
        data = "" if value["supplied"] else ", data left out"
        return f"{value['key']} {value_in_words(value['content'])}{kind}{data}"
    if value.keys() == {"key", "content", "has_mm_hash"}:
        name = value["key"] if value["has_mm_hash"] else f"{value['key']} (by identifier)"
        return f"{name} {value_in_words(value['content'])}" if value["content"] else f"{name} –"
    return ", ".join(f"{name} {value_in_words(member)}" for name, member in value.items())


def _updated_in_words(result: Mapping[str, Any]) -> str:
    item = "no item" if result["item"] is None else value_in_words(result["item"])
    whose = " (the input)" if result["is_input"] else ""
    updates = result.get("updates")
    if updates is None or updates == result["item"]:
        return f"{item}{whose}"
    return f"{item}{whose} with the updates of {value_in_words(updates)}"


def _description_in_words(value: Mapping[str, Any]) -> str:
    """A value of the component `items`, in the notation of Python where it has one."""
    kind = value["value"]
    if kind == "plain":
        return repr(value["plain"])
    if kind == "opaque":
        return f"range({value['length']})"
    if kind in ("tensor", "array"):
        view = " view" if value["is_view"] else ""
        return f"{kind}{view}({value['dtype']}, {tuple(value['shape'])})"
    if kind == "sequence":
        members = ", ".join(map(value_in_words, value["members"]))
        return f"({members})" if value["is_tuple"] else f"[{members}]"
    named = ", ".join(f"{key}: {value_in_words(member)}" for key, member in value["members"])
    return f"{{{named}}}" if kind == "mapped" else f"{kind}{{{named}}}"


def _configuration_in_words(value: Mapping[str, Any]) -> str:
    """What the factories read, without what is as usual."""
    words = [f"{value['budget_bytes']} B", str(value["cache_type"])]
    words += [] if value["is_multimodal"] else ["no multi-modal input"]
    for name, count in (("API processes", "api_processes"), ("data-parallel size", "data_parallel_size")):
        words += [f"{name} {value[count]}"] if value[count] != 1 else []
    words += ["external load balancing"] if value["is_externally_balanced"] else []
    words += [f"world size {value['workers']}"] if value["workers"] != 1 else []
    is_usual = value["cache_type"] != "shm" or value["object_bytes"] == 2**27
    words += [] if is_usual else [f"objects up to {value['object_bytes']} B"]
    return f"({', '.join(words)})"
