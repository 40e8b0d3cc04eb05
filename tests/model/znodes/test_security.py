"""ACLs, delegation tokens and their changes."""

import pytest

from model.znodes.codec import decode, encode
from model.znodes.configs import AclChange, AclEntry, DelegationToken, ExtendedAclChange, ResourceAcls, TokenChange
from model.znodes.payload import Unreadable


@pytest.mark.parametrize("path", ["/kafka-acl/Topic/orders", "/kafka-acl-extended/prefixed/Topic/orders"])
def test_the_acls_of_a_resource(path: str):
    golden = b'{"acls":[{"principal":"User:alice","permissionType":"Allow","host":"*","operation":"Read"}],"version":1}'
    rule = AclEntry(principal="User:alice", permission_type="Allow", operation="Read", host="*")
    assert decode(path, golden) == ResourceAcls(acls=(rule,))
    assert encode(ResourceAcls(acls=(rule,))) == golden


@pytest.mark.parametrize(
    ("text", "resource_type", "name"),
    [("Topic:orders", "Topic", "orders"), ("TRANSACTIONAL_ID:a:b", "TRANSACTIONAL_ID", "a:b")],
)
def test_a_literal_acl_change_is_type_and_name(text: str, resource_type: str, name: str):
    change = AclChange(resource_type, name)
    assert decode("/kafka-acl-changes/acl_changes_0000000000", text.encode()) == change
    assert encode(change) == text.encode()


def test_an_extended_acl_change_tells_the_pattern_type():
    golden = b'{"version":1,"resourceType":"TOPIC","name":"orders","patternType":"PREFIXED"}'
    change = ExtendedAclChange(resource_type="TOPIC", name="orders", pattern_type="PREFIXED")
    assert decode("/kafka-acl-extended-changes/acl_changes_0000000000", golden) == change
    assert encode(change) == golden


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_token_names_its_requester_from_v3(version: int):
    requester = b'"tokenRequester":"User%3Areq",' if version == 3 else b""
    data = (
        b'{"issueTimestamp":1,"renewers":["User%3Aren"],' + requester + b'"tokenId":"tok_en-1","owner":"User%3Aone",'
        b'"expiryTimestamp":3,"maxTimestamp":2,"version":' + b"%d}" % version
    )
    token = decode("/delegation_token/tokens/tok_en-1", data)
    assert isinstance(token, DelegationToken)
    assert token.token_requester == ("User%3Areq" if version == 3 else None)
    assert (token.issue_timestamp_ms, token.max_timestamp_ms, token.expiry_timestamp_ms) == (1, 2, 3)
    assert encode(token) == data


def test_a_token_change_is_the_token_id():
    assert decode("/delegation_token/token_changes/token_change_0000000000", b"tok") == TokenChange("tok")


@pytest.mark.parametrize(
    ("path", "data", "why"),
    [
        ("/kafka-acl/Topic/t", b'{"version":1}', "acls is missing"),
        ("/kafka-acl/Topic/t", b'{"version":1,"acls":[{}]}', "principal is missing in acls[0]"),
        ("/kafka-acl-changes/acl_changes_0000000000", b"orders", "is not of the form Type:name"),
        ("/kafka-acl-changes/acl_changes_0000000000", b"Topic:", "is not of the form Type:name"),
        ("/delegation_token/tokens/t", b'{"version":1,"tokenId":"t"}', "issueTimestamp is missing"),
        ("/delegation_token/token_changes/token_change_0000000000", b"\xff", "is not UTF-8 text"),
    ],
)
def test_an_unusable_payload_says_why(path: str, data: bytes, why: str):
    payload = decode(path, data)
    assert isinstance(payload, Unreadable)
    assert payload.reason == why
