"""A Memgraph in a container, for as long as a command runs: `python -m tests.servers.memgraph run -- pytest -m bolt`.

It needs a Docker engine and `pip install 'memgraph-rag[containers]'`; without one of them it says so and does nothing.
MGRAG_TEST_MEMGRAPH_IMAGE names another image.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from tests.servers.neo4j import answers_bolt, bolt_environment

IMAGE = "memgraph/memgraph:3.11.0"
BOLT_PORT = 7687
START_SECONDS = 120.0


class NoContainersError(Exception):
    """There is no Docker engine here, or nothing to talk to it with."""


@contextlib.contextmanager
def memgraph(image: str = IMAGE) -> Iterator[str]:
    """Run a Memgraph and give its `bolt://` URI; it is removed afterwards.

    Raises:
        NoContainersError: when there is no Docker engine.
        TimeoutError: when the server does not answer in time.
    """
    try:
        from docker.errors import DockerException
        from testcontainers.core.container import DockerContainer
    except ImportError as exc:
        raise NoContainersError("testcontainers is missing: pip install 'memgraph-rag[containers]'") from exc
    try:
        container = DockerContainer(image).with_exposed_ports(BOLT_PORT).with_command("--telemetry-enabled=false")
    except DockerException as exc:
        raise NoContainersError(f"no Docker engine answers ({exc})") from exc
    with container:
        host, port = container.get_container_host_ip(), int(container.get_exposed_port(BOLT_PORT))
        deadline = time.monotonic() + START_SECONDS
        while not answers_bolt(host, port):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{image} does not answer on {host}:{port}.")
            time.sleep(0.2)
        yield f"bolt://{host}:{port}"


def main(arguments: Sequence[str]) -> int:
    """Run the command with a server beside it; return its exit code, or 0 where there can be no server."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.memgraph", description="A Memgraph for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a command with a server beside it")
    run.add_argument("cmd", nargs="+", metavar="CMD", help="the command, after --")
    options = parser.parse_args(arguments)
    try:
        with memgraph(os.environ.get("MGRAG_TEST_MEMGRAPH_IMAGE", IMAGE)) as uri:
            environment = {**os.environ, **bolt_environment(uri, "", "")}
            return subprocess.run(options.cmd, env=environment, check=False).returncode
    except NoContainersError as exc:
        print(f"Not run on Memgraph: {exc}.", file=sys.stderr)
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
