"""Every kind of input, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.hostile_input.target import Target
from tests.hostile_input.targets import (
    assign_cases,
    broker,
    configurations,
    kept_files,
    log_files,
    metadata_logs,
    plans,
    recordings,
    snapshots,
    topics_text,
    wire_frames,
    znodes,
)

TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        znodes.TARGET,
        snapshots.TARGET,
        recordings.TARGET,
        plans.PLANS,
        plans.ELECTIONS,
        topics_text.TARGET,
        configurations.CONFIG,
        configurations.SCENARIOS,
        configurations.CLIENT,
        configurations.SERVER,
        kept_files.VIEWS,
        kept_files.JOURNAL,
        log_files.TARGET,
        metadata_logs.FILES,
        metadata_logs.ANSWERS,
        metadata_logs.PAST,
        assign_cases.TARGET,
        wire_frames.REQUESTS,
        wire_frames.ANSWERS,
        wire_frames.FRAMES,
        broker.TARGET,
    )
}
