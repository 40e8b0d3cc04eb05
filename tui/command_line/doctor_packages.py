"""Which command installs a program on a machine: a table by package manager. Runs none of them."""

from collections.abc import Mapping

from tui.command_line.doctor_fact import Machine

INSTALL: Mapping[str, str] = {
    "apt": "apt install",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
    "brew": "brew install",
}
FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("debian", "ubuntu"), "apt"),
    **dict.fromkeys(("fedora", "rhel", "centos"), "dnf"),
    **dict.fromkeys(("suse", "opensuse"), "zypper"),
    "arch": "pacman",
    "alpine": "apk",
}
"""ID or ID_LIKE of os-release → its package manager."""

PACKAGES: Mapping[str, Mapping[str, str]] = {
    "java": {
        "apt": "openjdk-17-jre-headless",
        "dnf": "java-21-openjdk-headless",
        "zypper": "java-21-openjdk-headless",
        "pacman": "jre-openjdk-headless",
        "apk": "openjdk21-jre-headless",
        "brew": 'openjdk@21 && export JAVA_HOME="$(brew --prefix openjdk@21)"',
    },
    "jdk": {
        "apt": "default-jdk-headless",
        "dnf": "java-21-openjdk-devel",
        "zypper": "java-21-openjdk-devel",
        "pacman": "jdk-openjdk",
        "apk": "openjdk21-jdk",
        "brew": "openjdk@21",
    },
    "openssl": dict.fromkeys(INSTALL, "openssl"),
    "maven": dict.fromkeys(INSTALL, "maven"),
    "ps": {**dict.fromkeys(INSTALL, "procps"), "dnf": "procps-ng", "pacman": "procps-ng"},
    "tmux": dict.fromkeys(INSTALL, "tmux"),
    "chromium": {**dict.fromkeys(INSTALL, "chromium"), "brew": "--cask chromium"},
}
"""What a thing is called there."""
DEBIAN_WITHOUT_17 = 13


def installing(thing: str, machine: Machine) -> str:
    """The command that installs one of PACKAGES; empty where the machine's package manager is not known."""
    manager = _manager(machine)
    if not manager:
        return ""
    package = PACKAGES[thing][manager]
    if thing == "java" and machine.release.get("ID") == "debian" and _number(machine) >= DEBIAN_WITHOUT_17:
        package = "openjdk-21-jre-headless"
    rights = "" if manager == "brew" or machine.is_root else "sudo "
    return f"{rights}{INSTALL[manager]} {package}"


def _manager(machine: Machine) -> str:
    if machine.system == "darwin":
        return "brew"
    names = f"{machine.release.get('ID', '')} {machine.release.get('ID_LIKE', '')}".split()
    return next((FAMILIES[name.partition("-")[0]] for name in names if name.partition("-")[0] in FAMILIES), "")


def _number(machine: Machine) -> int:
    number = machine.release.get("VERSION_ID", "").partition(".")[0]
    return int(number) if number.isdecimal() else DEBIAN_WITHOUT_17  # testing and unstable have none
