# SPDX-License-Identifier: Apache-2.0
"""One request to a control socket, and its answer: ask.py SOCKET VERB PAYLOAD"""
import json
import socket
import sys

path, verb, payload = sys.argv[1:]
request = {"v": 1, "id": "1", "cmd": verb, "payload": json.loads(payload)}
with socket.socket(socket.AF_UNIX) as client:
    client.connect(path)
    client.sendall(json.dumps(request).encode() + b"\n")
    print(client.makefile().readline(), end="")
