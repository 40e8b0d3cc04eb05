"""Why a connection that should be TLS, or should not, came to nothing: one line for the operator, with the way out."""

import ssl

_IS_PLAIN = "the server does not speak TLS on this port; check the port, or ask for no TLS"
PLAIN_ON_TLS = (
    "the server speaks TLS here, and we do not; give --command-config a file with security.protocol=SSL or SASL_SSL, "
    "for ZooKeeper zookeeper.ssl.client.enable=true"
)

_ALERTS = {
    "certificate_required": "the server wants a certificate of ours; give one as ssl.keystore.location",
    "bad_certificate": "the server does not take our certificate; check ssl.keystore, or give one",
    "unknown_ca": "the server does not trust the authority of our certificate; check ssl.keystore",
    "certificate_unknown": "the server does not take our certificate; check ssl.keystore",
    "certificate_expired": "the server says that our certificate has expired; renew ssl.keystore",
    "wrong_version_number": _IS_PLAIN,
    "record_layer_failure": _IS_PLAIN,
    "protocol_version": "the server speaks no version of TLS that we do; check ssl.enabled.protocols",
    "unsupported_protocol": "the server speaks no version of TLS that we do; check ssl.enabled.protocols",
    "handshake_failure": "the server and we have no cipher in common, or it wants a certificate of ours (ssl.keystore)",
}
_ENDED = (ssl.SSLEOFError, ConnectionResetError, BrokenPipeError)
HOSTNAME_MISMATCH = (62, 63, 64)
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH, …EMAIL… and …IP_ADDRESS_MISMATCH."""
EXPIRED = 10


def tls_refusal(error: OSError, address: str, *, in_handshake: bool = False) -> str:
    """What is wrong between `address` and us; empty where the error is not about TLS."""
    why = why_tls_failed(error, in_handshake=in_handshake)
    return why and f"{address}: {why}"


def is_refused_for_good(error: OSError) -> bool:
    """Whether another try would end the same way: a certificate was not taken, by us or by them."""
    return isinstance(error, ssl.SSLCertVerificationError) or any(
        sign in _reason(error) for sign in ("certificate", "unknown_ca", "unsupported_protocol", "protocol_version")
    )


def is_tls_alert(first: bytes) -> bool:
    """Whether an answer to a plain request begins as a TLS alert does: the server wants TLS on this port."""
    return first[:2] == b"\x15\x03"


def why_tls_failed(error: OSError, *, in_handshake: bool) -> str:
    """As `tls_refusal`, without the address."""
    if in_handshake and isinstance(error, _ENDED):
        return "the server ended the TLS handshake: is this a plain port? Check it, or ask for no TLS"
    if isinstance(error, ssl.SSLCertVerificationError):
        return _unverified(error)
    if not isinstance(error, ssl.SSLError):
        return ""
    reason = _reason(error)
    known = next((said for sign, said in _ALERTS.items() if sign in reason), "")
    return known or f"TLS failed: {reason.replace('_', ' ') or error}"


def _unverified(error: ssl.SSLCertVerificationError) -> str:
    said = error.verify_message.rstrip(".")
    if error.verify_code in HOSTNAME_MISMATCH:
        return f"the server's certificate is for other names ({said}); connect by a name that is in it"
    if error.verify_code == EXPIRED:
        return f"the server's certificate is not valid any more ({said})"
    return f"the server's certificate is not trusted ({said}); give its authority as ssl.truststore.location"


def _reason(error: OSError) -> str:
    return str(getattr(error, "reason", "") or "").lower()
