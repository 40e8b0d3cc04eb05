"""Which environment variables a session in a browser gets."""

from tui.cli.serve import needed


def test_what_it_works_by_and_logs_in_with():
    works_by = dict.fromkeys(
        ("PATH", "HOME", "LC_ALL", "XDG_CONFIG_HOME", "KDRILL_CONFIG", "JAVA_HOME", "TEXTUAL_FPS"), "x"
    )
    secrets = dict.fromkeys(("AWS_SECRET_ACCESS_KEY", "MY_PATH", "GITHUB_TOKEN", "OTHER_CLUSTER", "path"), "x")
    assert needed({**works_by, **secrets, "MY_PASSWORD": "x"}, ("MY_PASSWORD", "UNSET")) == {
        **works_by,
        "MY_PASSWORD": "x",
    }
