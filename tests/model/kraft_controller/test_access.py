"""Rules of access, quotas and credentials: what is written, and what is refused."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.kraft_controller.acls import AclFilter, Rule, add_rules, filter_error, matching, removal
from model.kraft_controller.quotas import QuotaChange, QuotaEntity, alter_quotas
from model.kraft_controller.scram import ScramDeletion, Upsertion, alter_credentials
from model.metadata_log.decoder import Decoded, decode

TOPIC, GROUP, CLUSTER = 2, 3, 4
ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
READ, ALLOW = 3, 3
IDS = [f"MkU3OEVBNTcwNTJENDM2{letter}g" for letter in "ABCDE"]


def read(value: bytes) -> tuple[str, dict[str, Any]]:
    found = decode(value, with_secrets=True)
    assert isinstance(found, Decoded)
    return found.schema.name, dict(found.fields)


def rule(name: str = "t", pattern: int = LITERAL, kind: int = TOPIC, principal: str = "User:a") -> Rule:
    return Rule(kind, name, pattern, principal, "*", READ, ALLOW)


def test_a_rule_is_written_once() -> None:
    values, errors = add_rules({IDS[3]: rule("u")}, [rule(), rule("u"), rule()], IDS[:3])
    assert errors == [ErrorCode.none] * 3
    written = {"resourceType": 2, "resourceName": "t", "patternType": 3, "principal": "User:a", "host": "*",
               "operation": 3, "permissionType": 3}  # fmt: skip
    assert [read(each) for each in values] == [("AccessControlEntryRecord", {"id": IDS[0], **written})]
    assert read(removal(IDS[0])) == ("RemoveAccessControlEntryRecord", {"id": IDS[0]})


@pytest.mark.parametrize(
    "wrong",
    [
        rule(kind=1),
        rule(kind=8),
        rule(pattern=ANY),
        rule(pattern=MATCH),
        rule(""),
        rule(principal="a"),
        rule("t", kind=CLUSTER),
        Rule(TOPIC, "t", LITERAL, "User:a", "*", 1, ALLOW),
        Rule(TOPIC, "t", LITERAL, "User:a", "*", READ, 1),
    ],
)
def test_a_rule_that_is_none_is_refused(wrong: Rule) -> None:
    assert add_rules({}, [wrong], IDS[:1]) == ((), [ErrorCode.invalid_request])
    assert add_rules({}, [rule("kafka-cluster", kind=CLUSTER)], IDS[:1])[1] == [ErrorCode.none]


RULES = dict(zip(IDS, (rule("t"), rule("te", PREFIXED), rule("*"), rule("t", kind=GROUP)), strict=False))


@pytest.mark.parametrize(
    ("kind", "name", "pattern", "principal", "found"),
    [
        (TOPIC, "t", LITERAL, None, [0]),
        (TOPIC, "test", MATCH, None, [1, 2]),
        (TOPIC, "t", MATCH, None, [0, 2]),
        (TOPIC, None, PREFIXED, None, [1]),
        (TOPIC, None, MATCH, None, [0, 1, 2]),
        (TOPIC, "te", ANY, None, [1]),
        (ANY, "t", ANY, "User:a", [0, 3]),
        (ANY, None, ANY, "User:b", []),
    ],
)
def test_which_rules_a_filter_names(
    kind: int, name: str | None, pattern: int, principal: str | None, found: list[int]
) -> None:
    wanted = AclFilter(kind, name, pattern, principal, None, ANY, ANY)
    assert filter_error(wanted) is ErrorCode.none
    assert list(matching(RULES, wanted)) == [IDS[each] for each in found]
    assert filter_error(AclFilter(0, name, pattern, principal, None, ANY, ANY)) is ErrorCode.invalid_request


ALICE: QuotaEntity = (("user", "alice"),)


def quota(entity: QuotaEntity, **values: float | None) -> tuple[list[dict[str, Any]], str]:
    now = {frozenset(ALICE): {"producer_byte_rate": 10.0}}
    answer = alter_quotas(now, [QuotaChange(entity, values)])
    return [read(each)[1] for each in answer.values], answer.errors[0].name


def test_quotas_are_written_where_they_differ() -> None:
    assert quota(ALICE, producer_byte_rate=10.0, consumer_byte_rate=None) == ([], "none")
    gone = {"entity": [{"entityType": "user", "entityName": "alice"}], "key": "producer_byte_rate"}
    assert quota(ALICE, producer_byte_rate=None) == ([{**gone, "value": 0.0, "remove": True}], "none")
    assert quota(ALICE, producer_byte_rate=11.0) == ([{**gone, "value": 11.0, "remove": False}], "none")
    both: QuotaEntity = (("user", "alice"), ("client-id", None))
    assert quota(both, request_percentage=12.5)[0][0]["entity"][1] == {"entityType": "client-id", "entityName": None}


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        (ALICE, "producer_byte_rate", -1.0),
        (ALICE, "producer_byte_rate", 1.5),
        (ALICE, "producer_byte_rate", float("nan")),
        (ALICE, "connection_creation_rate", 5.0),
        (ALICE, "what", 5.0),
        ((), "producer_byte_rate", 5.0),
        ((("group", "g"),), "producer_byte_rate", 5.0),
        ((("user", ""),), "producer_byte_rate", 5.0),
        ((("ip", "1.2.3.4"), ("user", "u")), "connection_creation_rate", 5.0),
        ((("ip", "1.2.3.4"),), "producer_byte_rate", 5.0),
    ],
)
def test_quotas_that_are_none(entity: QuotaEntity, key: str, value: float) -> None:
    assert quota(entity, **{key: value, "consumer_byte_rate": 1.0}) == ([], "invalid_request")


def test_a_credential_is_what_the_rfc_makes_of_the_password() -> None:
    """The example of RFC 7677: user, pencil, 4096 iterations; its server signs with a key of this digest."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", salt, 4096)
    answer = alter_credentials(11, set(), [], [Upsertion("user", 1, 4096, salt, salted)])
    assert answer.errors == {"user": ErrorCode.none}
    name, fields = read(answer.values[0])
    assert (name, fields["salt"], fields["iterations"]) == ("UserScramCredentialRecord", salt, 4096)
    assert base64.b64encode(fields["storedKey"]) == b"WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
    assert base64.b64encode(fields["serverKey"]) == b"wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="


def test_credentials_that_are_refused() -> None:
    known = {("bob", 1)}
    good = Upsertion("bob", 2, 4096, b"s", b"p")

    def answered(*asked: ScramDeletion | Upsertion, level: int = 11) -> str:
        deletions = [each for each in asked if isinstance(each, ScramDeletion)]
        upsertions = [each for each in asked if isinstance(each, Upsertion)]
        answer = alter_credentials(level, known, deletions, upsertions)
        (error,) = answer.errors.values()
        assert bool(answer.values) == (error is ErrorCode.none)
        return error.name

    assert answered(good) == answered(ScramDeletion("bob", 1)) == answered(ScramDeletion("bob", 1), good) == "none"
    assert answered(good, level=10) == "unsupported_version"
    assert answered(ScramDeletion("bob", 2)) == "resource_not_found"
    assert answered(ScramDeletion("bob", 3)) == "unsupported_sasl_mechanism"
    assert answered(good, good) == "duplicate_resource"
    for iterations, user in ((4095, "bob"), (16385, "bob"), (4096, "")):
        assert answered(Upsertion(user, 2, iterations, b"s", b"p")) == "unacceptable_credential"
    assert answered(ScramDeletion("bob", 2), Upsertion("bob", 1, 4096, b"s", b"p")) == "resource_not_found"
