#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives three nodes of one world: replicated.py WORLDFS SOURCE DIRECTORY SLOWDOWN

DIRECTORY has the directories a, b and c, each with `tree` and `bob` to mount on. Prints `ok - …` for each check.
"""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

PROGRAM, SOURCE, TOP, SLOWDOWN = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
LEASE_MS = 2000 * SLOWDOWN
FAILOVER = LEASE_MS / 1000 + 2  # seconds
LAG = 5  # seconds, after which the other nodes show a change
NODES = "abc"


def check(what, good, details=""):
    if not good:
        sys.exit(f"not ok - {what} {details}")
    print(f"ok - {what}", flush=True)


def wait_for(what, condition, seconds=20):
    end = time.monotonic() + seconds * SLOWDOWN
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not ok - {what} (waited {seconds * SLOWDOWN} s)")
        time.sleep(0.02)
    print(f"ok - {what}", flush=True)


def world(node):
    return f"{TOP}/{node}/world"


def tree(node):
    return f"{TOP}/{node}/tree"


def run(*words, fails=False):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    if (done.returncode != 0) != fails:
        sys.exit(f"not ok - worldfs {' '.join(words)}: status {done.returncode}: {done.stderr}")
    return done.stderr if fails else done.stdout


def is_whole(node, how):
    done = subprocess.run([PROGRAM, "-w", world(node), how], capture_output=True, text=True, check=False)
    check(f"{how} of node {node} finds no problem", done.returncode == 0 and "0 problems found" in done.stderr, done.stderr)


def command(node, *words, **options):
    return run("-w", world(node), *words, **options)


def replicas(node):
    return json.loads(command(node, "replicas", "--json"))["data"]


def role(node):
    return replicas(node)["role"]


def owner_pid(node):
    return json.loads(command(node, "status", "--json"))["data"]["pid"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- counters ---


def send(node, key, by=1):
    """Adds to a counter by the socket of a node. Returns the answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(world(node) + "/control.sock")
        request = {"cmd": "send-event", "id": "1", "payload": {"schema": "test/Add@1", "value": {"by": by, "key": key}}, "v": 1}
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile() as answers:
            line = answers.readline()
    return json.loads(line) if line else {"error": {"code": "closed"}, "ok": False}


def counter(node, key):
    """The value of a counter as the mount of a node shows it; 0 if there is none."""
    try:
        with open(f"{tree(node)}/reducers/counter/{key}", encoding="utf-8") as file:
            return json.load(file)["n"]
    except FileNotFoundError:
        return 0


class Writer(threading.Thread):
    """Adds to a counter of its own through one node, without a pause; counts what was answered."""

    def __init__(self, node, key):
        super().__init__(daemon=True)
        self.node, self.key = node, key
        self.done, self.perhaps, self.refused = 0, 0, []
        self.ending = False
        self.start()

    def run(self):
        while not self.ending:
            try:
                answer = send(self.node, self.key)
            except OSError:
                time.sleep(0.05)
                continue
            if answer["ok"]:
                self.done += 1
            elif answer["error"]["code"] in ("unknown", "closed"):
                self.perhaps += 1
            else:
                self.refused.append(answer["error"]["code"])

    def end(self):
        self.ending = True
        self.join()
        return self


def expect(writer, nodes, what):
    """What was answered is on all nodes once, and what may have been done at most once."""
    wait_for(f"{what}: all nodes have what was answered",
             lambda: all(writer.done <= counter(node, writer.key) for node in nodes))
    found = {counter(node, writer.key) for node in nodes}
    check(f"{what}: each request was done once", max(found) <= writer.done + writer.perhaps,
          f"{found} of {writer.done}, perhaps {writer.perhaps}, refused {writer.refused}")


# --- the life of nodes ---


def start_etcd(port, peer_port):
    process = subprocess.Popen(
        ["etcd", "--data-dir", f"{TOP}/etcd", "--listen-client-urls", f"http://127.0.0.1:{port}", "--advertise-client-urls",
         f"http://127.0.0.1:{port}", "--listen-peer-urls", f"http://127.0.0.1:{peer_port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers():
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            return False
    wait_for("etcd answers", answers)
    return process


def shorten_lease(node):
    path = f"{world(node)}/host.json"
    with open(path, encoding="utf-8") as file:
        host = json.load(file)
    host["replication"]["lease_ms"] = LEASE_MS
    with open(path, "w", encoding="utf-8") as file:
        json.dump(host, file)
    command(node, "trust", "--yes")


def mount(node):
    command(node, "mount", tree(node))


def make_nodes(url):
    run("init", world("a"), "--from", SOURCE)
    command("a", "trust", "--yes")
    run("replicate", world("a"), url, "--node", "a")
    check("a prefix has one world", "already_exists" in run("replicate", world("a"), url, "--node", "a", fails=True))
    shorten_lease("a")
    mount("a")
    wait_for("the first node owns the world", lambda: role("a") == "owner")
    for node in "bc":
        run("follow", url, world(node), "--node", node)
        shorten_lease(node)
        mount(node)
        wait_for(f"node {node} follows", lambda node=node: role(node) == "follower")


def owner():
    """The node that owns the world, as all living nodes say; None: they do not agree."""
    names = {replicas(node)["owner"] for node in NODES}
    found = [node for node in NODES if role(node) == "owner"]
    return found[0] if len(found) == 1 and names == set(found) else None


# --- what they do ---


def control(node, name, document):
    """Writes one line to a control file of a node's mount."""
    with open(f"{tree(node)}/ctl/{name}", "w", encoding="utf-8") as file:
        file.write(json.dumps(document) + "\n")


def text_of(node, path):
    try:
        with open(f"{tree(node)}/{path}", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def add(key, by):
    return {"schema": "test/Add@1", "value": {"by": by, "key": key}}


def write_everywhere():
    for node in NODES:
        check(f"an event by the socket of {node} is done", send(node, f"s{node}")["ok"])
        check(f"and seen in the mount of {node} at once", counter(node, f"s{node}") == 1)
        control(node, "event", add(f"f{node}", 2))
        check(f"an event by a control file of {node} is seen at once", counter(node, f"f{node}") == 2)
        command(node, "event", "test/Add@1", json.dumps(add(f"c{node}", 4)["value"]))
        check(f"an event by a command at {node} is seen at once", counter(node, f"c{node}") == 4)
        control(node, "invoke", {"action_type": "write_artifact", "artifact_id": f"n{node}", "content": f"by {node}"})
        check(f"an action by a control file of {node} is seen at once",
              text_of(node, f"artifacts/n{node}/content") == f"by {node}")
        wait_for("and on all nodes", lambda node=node: all(
            counter(other, f"c{node}") == 4 and text_of(other, f"artifacts/n{node}/content") for other in NODES), LAG)
        blob = os.urandom(300_000)
        with open(f"{tree(node)}/ctl/put-blob", "wb") as file:
            file.write(blob)
        name = hashlib.sha256(blob).hexdigest()
        check(f"a blob by a control file of {node} is at the owner", os.path.exists(f"{tree('a')}/blob/{name}"))


def tell_of_nodes():
    for node in NODES:
        with open(f"{tree(node)}/replication.json", encoding="utf-8") as file:
            text = file.read()
        told = json.loads(text)
        check(f"replication.json of {node} is canonical JSON",
              text == json.dumps(told, separators=(",", ":"), sort_keys=True, ensure_ascii=False) + "\n", text)
        check("and names its node, the owner and all nodes",
              (told["node"], told["owner"], [other["name"] for other in told["nodes"]]) == (node, "a", list(NODES)), text)
        check("and views of heights do not have it", "replication.json" not in os.listdir(f"{tree(node)}/at/head"))
        copying = f"for i in $(seq 100); do tar -C {tree(node)} -c replication.json | cat >{TOP}/tar && " \
            f"cp {tree(node)}/replication.json {TOP}/copy; done"
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + copying], capture_output=True, text=True, check=False)
        check("and tar and cp copy it without a remark", (done.returncode, done.stderr) == (0, ""), done.stderr)
        with open(f"{tree(node)}/ctl/metrics", encoding="utf-8") as file:
            figures = dict(line.rsplit(" ", 1) for line in file if not line.startswith("#"))
        check("and metrics have its role", figures[f'worldfs_replica_role{{role="{told["role"]}"}}'].strip() == "1", str(figures))
        check("and its lease", 0 < float(figures["worldfs_replica_lease_seconds"]) <= LEASE_MS / 1000, str(figures))
        relayed = float(figures["worldfs_replica_requests_relayed_total"])
        check("and requests that went to the owner", (relayed > 0) == (node != "a"), str(relayed))


def complete_names():
    offered = run("__complete", "-w", world("b"), "handover", "")
    check("completion offers the nodes for a handover", offered == "a\towner\nb\tfollower\nc\tfollower\n", offered)


def list_nodes():
    wait_for("every node knows all nodes", lambda: all(
        [(node["name"], node["role"], node["lag_records"]) for node in replicas(n)["nodes"]]
        == [("a", "owner", 0), ("b", "follower", 0), ("c", "follower", 0)] for n in NODES))
    for node in NODES:
        found = replicas(node)
        check(f"replicas at {node} says who it is, and of no problem",
              found["node"] == node and found["owner"] == "a" and found["problem"] is None, str(found))


def refuse_alike():
    answers = []
    for node in NODES:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(world(node) + "/control.sock")
            connection.sendall(b'{"cmd":"send-event","id":"1","payload":{"schema":"test/Nothing@1","value":{}},"v":1}\n')
            with connection.makefile() as lines:
                answers.append(json.loads(lines.readline())["error"])
    check("a refusal is the same on every node", answers[0] == answers[1] == answers[2], str(answers))


def without_owner_process():
    for node in "bca":  # at last the owner itself
        run("umount", tree(node))
        wait_for(f"node {node} is not served", lambda node=node: not os.path.exists(world(node) + "/control.sock"))
        other = "c" if node == "b" else "b"
        wait_for("a served node owns the world", lambda node=node: any(role(n) == "owner" for n in NODES if n != node))
        command(node, "event", "test/Add@1", '{"by":3,"key":"alone%s"}' % node)
        told = replicas(node)
        check("and it lists the nodes", [other["name"] for other in told["nodes"]] == list(NODES), str(told))
        wait_for(f"a command on node {node} without a process is done by the owner",
                 lambda node=node, other=other: counter(other, f"alone{node}") == 3, LAG)
        mount(node)
        wait_for(f"node {node} follows again", lambda node=node: role(node) == "follower" and counter(node, f"alone{node}") == 3)


def name_lives(url):
    """A second process with the name of a living node."""
    said = run("follow", url, f"{TOP}/refused", "--node", "b", fails=True)
    check("the name of a living node is busy", "busy" in said, said)
    copy = f"{TOP}/second"
    shutil.copytree(world("b"), copy, ignore=shutil.ignore_patterns("*.sock", "*.lock", "lock.mdb"))
    subprocess.run([PROGRAM, "-w", copy, "trust", "--yes"], check=False, capture_output=True)
    second = subprocess.Popen([PROGRAM, "-w", copy, "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("a copy of a living node ends by itself", lambda: second.poll() is not None)
    check("and the node goes on", send("b", "living")["ok"] and role("b") == "follower")


def hand_over():
    writers = [Writer(node, f"h{node}") for node in NODES]
    for node in "bca":
        time.sleep(0.5)
        command("c", "handover", node)
        wait_for(f"node {node} owns the world", lambda node=node: role(node) == "owner")
    for writer in writers:
        writer.end()
        check(f"a handover fails no request of node {writer.node}", not writer.refused and not writer.perhaps,
              f"{writer.refused} {writer.perhaps}")
        expect(writer, NODES, f"handover, node {writer.node}")


def lose_owner(how):
    wait_for("all nodes agree about the owner", owner)
    before = owner()
    others = [node for node in NODES if node != before]
    writers = [Writer(node, f"{how}{node}") for node in NODES]
    time.sleep(0.5)
    pid = owner_pid(before)
    os.kill(pid, signal.SIGKILL if how == "kill" else signal.SIGSTOP)
    lost = time.monotonic()
    wait_for("another node owns the world", lambda: any(role(node) == "owner" for node in others), FAILOVER)
    print(f"# {how}: another node owned the world after {time.monotonic() - lost:.1f} s")
    time.sleep(0.5)
    if how == "kill":
        subprocess.run(["umount", "-l", tree(before)], check=False, stderr=subprocess.DEVNULL)
        wait_for("the killed process is gone", lambda: not os.path.exists(f"/proc/{pid}"))
        wait_for("and can be mounted again", lambda: subprocess.run(
            [PROGRAM, "-w", world(before), "mount", tree(before)], capture_output=True, check=False).returncode == 0)
    else:
        os.kill(pid, signal.SIGCONT)
        wait_for("a process that was stopped does not own the world any more", lambda: role(before) != "owner")
    wait_for("it comes back as a follower", lambda: role(before) == "follower")
    for writer in writers:
        writer.end()
        expect(writer, NODES, f"{how}, node {writer.node}")


def lose_etcd(etcd):
    writers = [Writer(node, f"e{node}") for node in NODES]
    time.sleep(0.3)
    etcd.send_signal(signal.SIGSTOP)
    for _ in range(10):
        time.sleep(0.5 * SLOWDOWN)
        for node in NODES:
            if counter(node, "aloneb") != 3:
                sys.exit(f"not ok - without etcd, node {node} is not readable")
    print("ok - without etcd, all nodes are readable")
    etcd.send_signal(signal.SIGCONT)
    wait_for("with etcd, a node owns the world again", owner)
    wait_for("and changes are done", lambda: all(send(node, "after")["ok"] for node in NODES))
    for writer in writers:
        writer.end()
        check(f"without etcd, changes at {writer.node} wait or are unavailable", set(writer.refused) <= {"unavailable"},
              str(set(writer.refused)))
        expect(writer, NODES, f"without etcd, node {writer.node}")


def revoke():
    command("a", "principal", "add", "bob")
    command("a", "grant", "bob", "query", "--name", "g")
    for node in NODES:
        command(node, "mount", "--as", "bob", f"{TOP}/{node}/bob")

    def shown(node):
        try:
            with open(f"{TOP}/{node}/bob/README", "rb") as file:
                return len(file.read()) > 0
        except OSError:
            return False
    wait_for("bob sees the world on every node", lambda: all(shown(node) for node in NODES))
    command("b", "revoke", "g")
    check("a revocation that was answered is in force everywhere", not any(shown(node) for node in NODES))
    for node in NODES:
        run("umount", f"{TOP}/{node}/bob")


def height(node):
    return json.loads(command(node, "head", "--json"))["data"]["journal_height"]


def archive(node, at):
    """The hash of a tar archive of a height in the mount of a node."""
    done = subprocess.run(["tar", "-C", f"{tree(node)}/at/{at}", "--sort=name", "-cf", "-", "."],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check(f"tar reads the mount of {node}", done.returncode == 0, done.stderr.decode()[:1000])
    return hashlib.sha256(done.stdout).hexdigest()


def compare():
    wait_for("all nodes have all records", lambda: len({json.dumps(json.loads(command(n, "head", "--json"))["data"]) for n in NODES}) == 1)
    at = height("a")
    check("archives of all mounts are the same bytes", len({archive(node, at) for node in NODES}) == 1)
    for node in NODES:
        is_whole(node, "verify")
        is_whole(node, "replay")


def main():
    port = free_port()
    etcd = start_etcd(port, free_port())
    try:
        url = f"etcd://127.0.0.1:{port}/world"
        make_nodes(url)
        write_everywhere()
        tell_of_nodes()
        complete_names()
        list_nodes()
        refuse_alike()
        revoke()
        name_lives(url)
        without_owner_process()
        hand_over()
        lose_owner("kill")
        lose_owner("stop")
        lose_etcd(etcd)
        compare()
        for node in NODES:
            run("umount", tree(node))
    finally:
        etcd.send_signal(signal.SIGCONT)
        etcd.kill()
        etcd.wait()


main()
