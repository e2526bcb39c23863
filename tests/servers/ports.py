"""Loopback ports for servers that are stopped and started again on the same port."""

import random
import socket

HOST = "127.0.0.1"


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 on which nobody listens now.

    It lies below the ephemeral ranges of Linux and macOS, so that while our server is down no outgoing connection
    is given this port as its own (a client that keeps dialling a closed ephemeral port can even reach itself).

    Raises:
        OSError: no free port was found in 200 tries.
    """
    for port in random.sample(range(20_000, 32_000), 200):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise OSError("No free TCP port between 20000 and 32000 on 127.0.0.1: close some servers and try again.")
