"""Keys of our own, all below `kdrill.`: what drills do to a broker while it runs. Kafka knows none of them."""

from model.broker.settings.key import Key
from model.broker.settings.kinds import Optional, Text

KDRILL_FAULT_FOLDER = Key("kdrill.fault.folder", Optional(Text()), None)
"""A folder in which files say what is to go wrong, at any time. Left out, nothing is."""

LOG_DIR_LIMIT_FILE = "log.dir.bytes.limit"
"""Holds how many bytes all logs may have; what would be more fails as on a full disk."""
CONTROLLER_STOP_FILE = "controller.stop.at"
"""Holds one of FAILOVER_STEPS: the process of a controller that reaches it is killed, once."""
FAILOVER_STEPS = ("elected", "loaded", "written", "told")
"""In order. `elected`: `/controller` and the epoch are written; `loaded`: all is read; `written`: new leaders are in
their znodes, and nobody has been told; `told`: the first broker has answered.
"""
