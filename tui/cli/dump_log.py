"""`kdrill dump-log`: what files of a log folder hold, as Kafka's DumpLogSegments prints it, or as JSON lines."""

import os
import signal
import sys
from itertools import compress
from pathlib import Path

import click

from model.cluster.ids import release_numbers
from model.log.dump.decoders import LEADER_CHANGE_TOLD, LogDecoder, as_java_prints
from model.log.dump.dump_file import dump_file
from model.log.dump.facts import KNOWN_ENDS, DumpOptions, file_name
from model.log.records import Damage
from model.metadata_log.decoder import java_text
from tui.cli.output import tell

SOUND, UNREADABLE, DAMAGED = 0, 1, 2


@click.command("dump-log")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--print-data-log", is_flag=True, help="keys and payloads of records too; implies --deep-iteration")
@click.option("--deep-iteration", is_flag=True, help="decode records too, not only batches")
@click.option("--offsets-decoder", is_flag=True, help="decode records of __consumer_offsets")
@click.option("--transaction-log-decoder", is_flag=True, help="decode records of __transaction_state")
@click.option(
    "--cluster-metadata-decoder",
    is_flag=True,
    help="decode records of __cluster_metadata, secrets included",
)
@click.option("--verify-index-only", is_flag=True, help="check index entries against the log without printing them")
@click.option(
    "--index-sanity-check", is_flag=True, help="check only what a starting broker checks: an index's size and ends"
)
@click.option(
    "--as-release",
    default=f"{LEADER_CHANGE_TOLD[0]}.{LEADER_CHANGE_TOLD[1]}",
    show_default=True,
    callback=lambda _context, _option, value: _release(value),
    help="print KRaft's leader changes as Kafka of this release does",
)
@click.option("--json", "as_json", is_flag=True, help="kdrill.dump-log/1: one JSON object a line")
def dump_log(
    files: tuple[str, ...],
    print_data_log: bool,
    deep_iteration: bool,
    offsets_decoder: bool,
    transaction_log_decoder: bool,
    cluster_metadata_decoder: bool,
    verify_index_only: bool,
    index_sanity_check: bool,
    as_release: tuple[int, ...],
    as_json: bool,
) -> int:
    """What the files of a log folder contain. Exits 0 if all is well, 2 if a file is damaged, 1 if one cannot be read.

    FILE is a .log, .index, .timeindex, .txnindex, .snapshot or .checkpoint file, an offset or epoch checkpoint,
    meta.properties or partition.metadata; or a folder, for all of these in it. Files are opened read-only.

    The text is that of Kafka's DumpLogSegments. --cluster-metadata-decoder is for logs and .checkpoint files of KRaft's
    metadata; like Kafka's tool it prints what these hold, passwords included. Damage is reported on standard error,
    with its position; what is readable after it is still shown. On a terminal, control characters of the data are
    shown as escapes.

    \b
    Example: kdrill dump-log --print-data-log /var/kafka/orders-0/00000000000000000000.log
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader who goes away ends the dump, quietly
    chosen = offsets_decoder, transaction_log_decoder, cluster_metadata_decoder  # in the order of Decoder
    decoder = next(compress(LogDecoder, chosen), None)
    contents = print_data_log or decoder is not None
    options = DumpOptions(
        deep=deep_iteration or contents,
        contents=contents,
        decoder=decoder,
        json=as_json,
        verify_index_only=verify_index_only,
        index_sanity_check=index_sanity_check,
        release=as_release,
        show=_harmless if sys.stdout.isatty() else as_java_prints,
    )
    return max(_dump(path, options) for given in files for path in _expanded(given))


def _release(text: str) -> tuple[int, ...]:
    numbers = release_numbers(text)
    if not numbers:
        raise click.BadParameter(f"{text!r} is no release of Kafka: write 3.9 or 4.1.0")
    return numbers


def _expanded(path: str) -> list[str]:
    """The file itself, or the files of a folder that can be shown, or the folder if it has none."""
    try:
        names = sorted(name for name in os.listdir(path) if file_name(name) is not None)
    except OSError:  # not a folder, or one that tells nothing
        return [path]
    return [os.path.join(path, name) for name in names] or [path]


def _dump(path: str, options: DumpOptions) -> int:
    """Prints one file; returns the exit code."""
    name = file_name(Path(path).name)
    if os.path.isdir(path):
        return _tell(path, "no file in this folder can be shown")
    if name is None:
        return _tell(path, f"not a file that can be shown: its name should end with one of {', '.join(KNOWN_ENDS)}")
    code = SOUND
    out = sys.stdout.buffer
    try:
        for part in dump_file(path, name, options):
            if isinstance(part, bytes):
                out.write(part)
                continue
            out.flush()
            if isinstance(part, Damage):
                code = DAMAGED
                _tell(path, f"position {part.position}, {part.size} bytes: {part.kind}: {part.cause}")
            else:
                _tell(path, f"position {part.position}: {part.text}")
        out.flush()
    except OSError as error:
        code = max(code, _tell(path, error.strerror or str(error)))
    return code


def _tell(path: str, reason: str) -> int:
    tell(f"{path}: {reason}")
    return UNREADABLE


def _harmless(data: bytes) -> bytes:
    from tui.engine.text import plain  # noqa: PLC0415 - on terminals only

    return plain(java_text(data)).encode()
