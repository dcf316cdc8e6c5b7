"""The protocols over processes: P0, P1 and the workers each in a spawned process, the rest in their parent.

The parent is the clients and the channel. Each part obeys calls over a socket of its own (`host`, `serving`),
and is the very class that runs in one process (`shared_parts`); its stand-in in the parent (`shared_remote`)
takes the place of that class in the same deployment, which keeps the same books. Step by step that is a
deployment as any other; `shared_course` has all processes at work at once.
"""

from .carried import pack, unpack
from .course import Cleared, Died, Failed, Refused, Sent
from .errors import ProcessLost
from .host import Host, Hosts, Pending
from .pair_course import Answered, Lost, PairCourse
from .pair_parts import PairParts
from .pair_remote import PairProcesses
from .parts import Occasion, Recipe, RemoteCache
from .shared_course import Missed, Read, Served, SharedCourse
from .shared_parts import SharedParts
from .shared_remote import SharedProcesses

__all__ = [
    "Answered",
    "Cleared",
    "Died",
    "Failed",
    "Host",
    "Hosts",
    "Lost",
    "Missed",
    "Occasion",
    "PairCourse",
    "PairParts",
    "PairProcesses",
    "Pending",
    "ProcessLost",
    "Read",
    "Recipe",
    "Refused",
    "RemoteCache",
    "Sent",
    "Served",
    "SharedCourse",
    "SharedParts",
    "SharedProcesses",
    "pack",
    "unpack",
]
