"""The protocols around the caches, with every accident.   [spec/05-drift.md, spec/08-shm-caches.md]

`Deployment` is around a key-replicated pair: P0, channel, P1. `SharedDeployment` is around the shared-memory
caches: P0, channel, workers. They import nothing of ours: an `Implementation` or a `SharedImplementation`
says how to make the caches.
"""

from .channel import Channel
from .deployment import Deployment
from .engine import Engine
from .front_end import FrontEnd, UnsuppliedError
from .implementation import Implementation
from .messages import Answer, Message, Report, Request, RequestItem
from .protections import DEFAULT, PROTECTIONS
from .robust_lock import RobustLock
from .shared_deployment import SharedDeployment
from .shared_front_end import SharedFrontEnd
from .shared_implementation import SharedImplementation
from .shared_messages import Reading, SharedMessage, is_handle
from .shared_protections import SHARED_DEFAULT, SHARED_PROTECTIONS
from .shared_work import SharedWork
from .shared_worker import SharedWorker
from .work import Work

__all__ = [
    "DEFAULT",
    "PROTECTIONS",
    "SHARED_DEFAULT",
    "SHARED_PROTECTIONS",
    "Answer",
    "Channel",
    "Deployment",
    "Engine",
    "FrontEnd",
    "Implementation",
    "Message",
    "Reading",
    "Report",
    "Request",
    "RequestItem",
    "RobustLock",
    "SharedDeployment",
    "SharedFrontEnd",
    "SharedImplementation",
    "SharedMessage",
    "SharedWork",
    "SharedWorker",
    "UnsuppliedError",
    "Work",
    "is_handle",
]
