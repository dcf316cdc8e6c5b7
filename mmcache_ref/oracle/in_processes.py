"""The protocols with every part in a process of its own, compared with the model step by step."""

from __future__ import annotations

import dataclasses
from typing import Any

from mmcache_ref.oracle.adapters.base import Adapter
from mmcache_ref.oracle.component import Component
from mmcache_ref.protocol.processes import Hosts


def in_processes(component: Component, hosts: Hosts) -> Component:
    """The same component, whose adapters have their parts in these processes; one adapter at a time."""
    make: Any = component.adapter

    def adapter(namespace: Any, config: Any) -> Adapter:
        hosts.reclaim()
        made: Adapter = make(namespace, config, hosts=hosts)
        return made

    return dataclasses.replace(component, adapter=adapter)
