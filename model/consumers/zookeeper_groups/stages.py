"""What a member waits for. Names only."""

from enum import StrEnum


class Stage(StrEnum):
    """From start to end; from READING_SELF to BACKING_OFF a rebalance is under way. The last ones are questions that
    anybody may ask at any time."""

    NEW = "new"
    REGISTERING = "registering"
    REGISTERED_BEFORE = "registered-before"
    """Its id is still there from an earlier session: wait, and try again."""
    LISTING_TOPICS = "listing-topics"
    SUBSCRIBING = "subscribing"
    IDLE = "idle"

    READING_SELF = "reading-self"
    STOPPING = "stopping"
    COMMITTING = "committing"
    CALLING_BEFORE_RELEASE = "calling-before-release"
    RELEASING = "releasing"
    READING_MEMBERS = "reading-members"
    READING_REGISTRATIONS = "reading-registrations"
    READING_TOPIC_NAMES = "reading-topic-names"
    READING_TOPICS = "reading-topics"
    CLAIMING = "claiming"
    CHECKING_CLAIMS = "checking-claims"
    READING_OFFSETS = "reading-offsets"
    UNDOING_CLAIMS = "undoing-claims"
    CALLING_BEFORE_START = "calling-before-start"
    BACKING_OFF = "backing-off"

    AWAITING_SESSION = "awaiting-session"
    LEAVING = "leaving"
    COMMITTING_LAST = "committing-last"
    GONE = "gone"

    SIDE_COMMIT = "side-commit"
    SIDE_WATCH = "side-watch"
    SIDE_TOPICS = "side-topics"
