"""Starts a program once for each rank, with the environment of torchrun: launch.py N PROGRAM …"""
import os
import socket
import subprocess
import sys


def main():
    count, command = int(sys.argv[1]), [sys.executable, *sys.argv[2:]]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = []
    for rank in range(count):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count),
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        ranks.append(subprocess.Popen(command, env=environment))
    sys.exit(max(rank.wait() for rank in ranks))


if __name__ == "__main__":
    main()
