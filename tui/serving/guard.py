"""Which requests are of the page that this server gave out. Pure; answers none.

A page of another site can send requests to a loopback address, and with a host name of its own that leads there
(DNS rebinding) even read the answers. Its requests tell on it: a browser names the site in `Host` and `Origin`.
"""

HEADERS = (
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)
"""With every answer."""


def refusal(host: str, origin: str | None, names: frozenset[str], *, is_socket: bool) -> str:
    """Why a request is refused, one line; empty for one that is not.

    `host` and `origin` are its headers; `names` is what the server may be called. A session opens for its own page
    only: browsers name the origin of every WebSocket.
    """
    if host not in names:
        return f"refused: this server is called {' or '.join(sorted(names))}, and not what this request calls it"
    if (is_socket or origin is not None) and origin != f"http://{host}":
        return "refused: this request is not of this server's own page"
    return ""


def content_policy(host: str, nonce: str) -> str:
    """What the page may load, and from where: nothing but what this server has, and the script with the nonce."""
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; font-src 'self';"
        f" img-src 'self' data:; connect-src ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
