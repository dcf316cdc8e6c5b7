"""The protocol around a pair of caches: P0, channel, P1, and every accident.   [spec/05-drift.md]

It imports nothing of ours: an `Implementation` says how to make the caches.
"""

from .channel import Channel
from .deployment import Deployment
from .engine import Engine
from .front_end import FrontEnd, UnsuppliedError
from .implementation import Implementation
from .messages import Answer, Message, Report, Request, RequestItem
from .protections import DEFAULT, PROTECTIONS
from .work import Work

__all__ = [
    "DEFAULT",
    "PROTECTIONS",
    "Answer",
    "Channel",
    "Deployment",
    "Engine",
    "FrontEnd",
    "Implementation",
    "Message",
    "Report",
    "Request",
    "RequestItem",
    "UnsuppliedError",
    "Work",
]
