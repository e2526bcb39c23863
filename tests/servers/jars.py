"""What a Neo4j of our own is made of: a Java runtime that is found, and jars that Maven downloads once."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

FOLDER = Path(__file__).parent
POM = FOLDER / "pom.xml"
LIB = FOLDER / "lib"
OLDEST_JAVA = 17
DOWNLOAD_SECONDS = 1800


class ServerError(RuntimeError):
    """The test server cannot be had: says what is missing or what the server said, and what to do."""


def java() -> str:
    """Return the path of a Java runtime of version 17 or later (JAVA_HOME first, then PATH).

    Raises:
        ServerError: there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    advice = f"Install one (Debian, Ubuntu: openjdk-{OLDEST_JAVA}-jre-headless) or set JAVA_HOME."
    if found is None:
        raise ServerError(f"Neo4j needs Java {OLDEST_JAVA} or later, and no java was found. {advice}")
    said = subprocess.run([found, "-version"], capture_output=True, text=True, timeout=60, check=False)
    version = re.search(r'version "(\d+)', said.stderr + said.stdout)
    if version is None or int(version.group(1)) < OLDEST_JAVA:
        raise ServerError(
            f"Neo4j needs Java {OLDEST_JAVA} or later; {found} says: {said.stderr.strip() or said.returncode}. {advice}"
        )
    return found


def neo4j_version() -> str:
    """Return the version of Neo4j that pom.xml asks for."""
    version = ElementTree.parse(POM).findtext(".//{*}neo4j.version")
    if not version:
        raise ServerError(f"{POM} has no <neo4j.version> property: restore the file.")
    return version


def have_jars() -> bool:
    """Tell whether the jars of that version are on this machine already."""
    return (LIB / f"neo4j-{neo4j_version()}.jar").is_file()


def server_jars() -> Path:
    """Return the folder with the server's jars, after downloading them with Maven (about 130 MB) if need be.

    Raises:
        ServerError: Maven is missing, or it failed.
    """
    if have_jars():
        return LIB
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerError(
            f"The jars of Neo4j {neo4j_version()} are not in {LIB}, and Maven, which would download them, was not "
            "found. Install it (Debian, Ubuntu: maven), or copy the folder from a machine that has it."
        )
    # Into a folder of our own first, so that an interrupted or a second download never leaves half a server in place.
    partial = FOLDER / "target" / f"jars-{os.getpid()}"
    print(f"Downloading Neo4j {neo4j_version()} into {LIB} (once, some minutes)", file=sys.stderr, flush=True)
    command = [maven, "-B", "-q", "-f", str(POM), "package", f"-Djars.directory={partial}"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=DOWNLOAD_SECONDS, check=True)
        if not have_jars():
            shutil.rmtree(LIB, ignore_errors=True)
            partial.rename(LIB)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as exc:
        raise ServerError(
            f"Maven could not download Neo4j {neo4j_version()}: {exc}. What it said is above; without access to a "
            f"Maven repository, copy {LIB} from a machine that has it."
        ) from exc
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return LIB
