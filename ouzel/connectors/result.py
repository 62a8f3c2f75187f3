"""result: where a trailing SELECT goes. The runtime hands its frames to whoever started the run; there is nothing to open."""

from __future__ import annotations

from ouzel.connectors.base import Connector, SinkDelivery, Writers, Writes

CONNECTOR = Connector(
    "result",
    "The answer of a query that ends in a SELECT, shown by the command line and given to Python. The runtime handles it itself.",
    writes=Writes("", ("append", "retract"), Writers.CALLER, SinkDelivery.AT_LEAST_ONCE, spark="shown"),
)
