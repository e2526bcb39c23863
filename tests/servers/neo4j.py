"""A Neo4j community server of our own for tests, on a loopback port and in a temporary home.

In Python (everything here blocks: use `asyncio.to_thread` from a coroutine):

    with Neo4jServer() as server:
        server.uri, server.user, server.password
        server.kill(); server.start()      # SIGKILL, then the same data on the same port

As a command:

    python -m tests.servers.neo4j run -- pytest -m bolt      # a server for as long as the command runs
    python -m tests.servers.neo4j run --servers 2 -- pytest -n 2 -m bolt      # and one for each process
    eval "$(python -m tests.servers.neo4j start)"            # a server that stays, and its MGRAG_TEST_BOLT_* variables
    python -m tests.servers.neo4j stop

It needs Java 17; jars are downloaded by Maven at the first use (see jars.py).
"""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.servers.jars import ServerError, java, server_jars
from tests.servers.ports import HOST, free_port

ROOT = Path(__file__).parents[2]
USER = "neo4j"
FIRST_PASSWORD = "neo4j"
START_SECONDS = 300.0
STOP_SECONDS = 60.0
MEMORY_DISK = Path("/dev/shm")
ROOM_BYTES = 4 << 30

# Bolt 5.8 down to 5.0, then nothing: any server of the 5 line picks one of them.
_HANDSHAKE = bytes.fromhex("6060B017 00080805 00000000 00000000 00000000")

_JAVA_FLAGS = (
    "-Xms256m",
    "-XX:+UseSerialGC",
    # The first compiler only: a start takes 40% less CPU, and tests start often and query little.
    "-XX:TieredStopAtLevel=1",
    # With that alone Java keeps 48 MB of compiled code, drops what is over, and compiles it again.
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:MaxDirectMemorySize=512m",
    "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)

_SETTINGS = {
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "dbms.usage_report.enabled": "false",
    "client.allow_telemetry": "false",
    "server.memory.pagecache.size": "256m",
    # A new home takes 500 MB of transaction logs otherwise.
    "db.tx_log.preallocate": "false",
    "db.tx_log.rotation.size": "32m",
    # Each test empties and fills the graph: statements would be planned anew for it all the time.
    "dbms.cypher.min_replan_interval": "1h",
    # Nor for each size of a list or text among the parameters; and there are more statements than 1,000 (the default).
    "internal.cypher.use_parameter_size": "false",
    "server.memory.query_cache.per_db_cache_num_entries": "10000",
    # A clean stop waits this long (seconds) for connections that may still come; nobody comes here.
    "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
}


class Neo4jServer:
    """One Neo4j on 127.0.0.1 that can be stopped, killed and started again on the same data, port and password.

    Args:
        home: where its data, logs and configuration live; kept on `close()`. None: a temporary folder, removed then.
        port: the Bolt port; None: a free one, the same for the life of the object.
        password: at least 8 characters; None: a random one. Must be the old one where `home` has data already.
        heap: the largest Java heap, as Java writes it. Transactions may use 70% of it.
        settings: more lines of neo4j.conf, over the defaults.
        java_flags: more flags for Java, over the defaults (a benchmark wants "-XX:TieredStopAtLevel=4").
        detached: let the server live on when this process ends (it dies with it otherwise, even on SIGKILL).

    Raises:
        ServerError: (all methods) Java or the jars are missing, or the server does not come up.
    """

    user = USER

    def __init__(
        self,
        *,
        home: Path | None = None,
        port: int | None = None,
        password: str | None = None,
        heap: str = "1g",
        settings: Mapping[str, str] | None = None,
        java_flags: Sequence[str] = (),
        detached: bool = False,
    ) -> None:
        self._temporary = home is None
        self.home = home or Path(tempfile.mkdtemp(prefix="mgrag-neo4j-", dir=_fast_folder()))
        self.port = port or free_port()
        self.password = password or secrets.token_urlsafe(12)
        self._heap = heap
        self._settings = {**_SETTINGS, **(settings or {})}
        self._java_flags = tuple(java_flags)
        self._detached = detached
        self._has_password = False
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """The `bolt://` URI."""
        return f"bolt://{HOST}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which tests are told about a Bolt server."""
        return bolt_environment(self.uri, self.user, self.password)

    @property
    def running(self) -> bool:
        """Whether the server's process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process that guards the server and leads its process group."""
        if self._process is None:
            raise ServerError("The Neo4j test server was not started: call start() first.")
        return self._process.pid

    def start(self, seconds: float = START_SECONDS) -> None:
        """Start the server and wait until it answers queries on Bolt, for `seconds` at most.

        Does nothing where it runs already. A start that fails leaves no process behind.
        """
        if self.running:
            return
        deadline = time.monotonic() + seconds
        command = self._command()
        self._configure()
        with (self.home / "logs" / "console.log").open("ab") as console:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.servers.guard", *(["--detached"] if self._detached else []), *command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL if self._detached else subprocess.PIPE,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )
        try:
            self._wait_for_bolt(deadline)
            self._wait_for_queries(deadline)
        except BaseException:
            self.kill()
            raise

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ask the server to stop, wait for it, and kill it if it is still there after `seconds`."""
        if self._process is None:
            return
        if self.running:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """End the server at once (SIGKILL); when this returns, the process is gone."""
        if self._process is None:
            return
        if self._process.stdin is not None:
            # The guard kills the server, reaps it and ends: unlike after a killpg, the server is gone for certain.
            self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def restart(self) -> None:
        """Stop cleanly and start on the same data, port and password."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the server and remove its temporary home."""
        self.stop()
        if self._temporary:
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of what the server printed and logged."""
        logs = (self.home / "logs" / name for name in ("console.log", "neo4j.log"))
        said = [line for log in logs if log.is_file() for line in log.read_text(errors="replace").splitlines()[-lines:]]
        return "\n".join(said)

    def _command(self) -> list[str]:
        return [
            java(),
            f"-Xmx{self._heap}",
            *_JAVA_FLAGS,
            *self._java_flags,
            "-cp",
            f"{server_jars()}/*",
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={self.home}",
            f"--config-dir={self.home / 'conf'}",
        ]

    def _configure(self) -> None:
        for folder in ("conf", "logs"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        address = f"{HOST}:{self.port}"
        settings = {
            "server.bolt.listen_address": address,
            "server.bolt.advertised_address": address,
            **self._settings,
        }
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.home / "conf" / "neo4j.conf").write_text(text, encoding="utf-8")

    def _wait_for_bolt(self, deadline: float) -> None:
        while not answers_bolt(HOST, self.port):
            self._check(deadline)
            time.sleep(0.1)

    def _wait_for_queries(self, deadline: float) -> None:
        """Set the password of a new home, and wait until the database serves: Bolt may answer a little earlier."""
        from neo4j.exceptions import AuthError, ServiceUnavailable, SessionExpired, TransientError

        while True:
            try:
                if not self._has_password:
                    # A home that has data from an earlier server has its password too.
                    with contextlib.suppress(AuthError):
                        self._query(FIRST_PASSWORD, "ALTER CURRENT USER SET PASSWORD FROM $old TO $new", "system")
                    self._has_password = True
                self._query(self.password, "RETURN 1", "neo4j")
            except AuthError as exc:
                raise ServerError(f"Another server, or {self.home} with another password, answers {self.uri}.") from exc
            except (ServiceUnavailable, SessionExpired, TransientError):
                self._check(deadline)
                time.sleep(0.1)
            else:
                return

    def _query(self, password: str, statement: str, database: str) -> None:
        from neo4j import GraphDatabase

        with (
            GraphDatabase.driver(self.uri, auth=(self.user, password), connection_timeout=10) as driver,
            driver.session(database=database) as session,
        ):
            session.run(statement, {"old": FIRST_PASSWORD, "new": self.password}).consume()

    def _check(self, deadline: float) -> None:
        if not self.running:
            raise ServerError(f"Neo4j ended while starting (home {self.home}). It said:\n{self.log_tail()}")
        if time.monotonic() > deadline:
            raise ServerError(f"Neo4j does not answer on {self.uri} in time. It said:\n{self.log_tail()}")


def _fast_folder() -> Path | None:
    """Where a temporary home is best: in memory where that has room, since every commit waits for the disk."""
    roomy = MEMORY_DISK.is_dir() and shutil.disk_usage(MEMORY_DISK).free > ROOM_BYTES
    return MEMORY_DISK if roomy and os.access(MEMORY_DISK, os.W_OK) else None


def bolt_environment(uri: str, user: str, password: str) -> dict[str, str]:
    """Return the variables by which tests are told about a Bolt server."""
    return {"MGRAG_TEST_BOLT_URI": uri, "MGRAG_TEST_BOLT_USER": user, "MGRAG_TEST_BOLT_PASSWORD": password}


def answers_bolt(host: str, port: int, seconds: float = 2.0) -> bool:
    """Tell whether a server at that address shakes hands in Bolt and accepts a version of it."""
    try:
        with socket.create_connection((host, port), timeout=seconds) as line:
            line.sendall(_HANDSHAKE)
            return line.recv(4, socket.MSG_WAITALL) not in (b"", bytes(4))
    except OSError:
        return False


if __name__ == "__main__":
    from tests.servers.commands import main

    sys.exit(main(sys.argv[1:]))
