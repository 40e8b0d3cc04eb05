"""The codecs of Kafka's logs: compressed streams in and out, with a bound on what comes out.

A stream that claims or yields more than the bound is refused before the memory is taken.
"""

from model.log.records.codecs.refusals import StreamError, TooLargeError
from model.log.records.codecs.streams import compress, decompress

__all__ = ["StreamError", "TooLargeError", "compress", "decompress"]
