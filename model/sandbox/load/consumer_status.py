"""How a consumer of the load stands, whatever its group is coordinated by."""

from typing import Literal

ConsumerStatus = Literal["joining", "consuming", "stopped"]
