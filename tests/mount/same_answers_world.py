# SPDX-License-Identifier: Apache-2.0
"""The source of the world of test-same-answers: SOURCE_ROOT DIRECTORY.

Two principals ask: `operator`, and `bob`, which sees a part of the world and may do little. Each is an agent, too, so that
its turns ask as itself, and the author of an artifact whose code asks (`operator_asks`, `bob_asks`). Content that bob may
not read has the word CANARY in it.
"""
import json
import os
import shutil
import sys

CANARY = "vanadium"
TOOLS = ["fs_read_manifest", "fs_read_reducer", "fs_ls", "fs_stat", "fs_read", "query", "invoke", "noop", "read_artifact",
         "write_artifact", "edit_artifact", "delete_artifact", "invoke_artifact", "query_kernel", "transfer", "tool", "step", "chat"]
SCOPE = ["reducers/counter", "reducers/asker", "artifacts/note", "artifacts/locked", "artifacts/tool", "artifacts/bob*",
         "principals/bob", "turns", "plans", "journal"]
# Each call is {table, name, arguments}; its answer is the result, or the error that was raised.
ASKS = """function run(...)
  local answers = array{}
  for _, call in ipairs({...}) do
    local tables = { kernel_state = kernel_state, kernel_actions = kernel_actions }
    local done, answer = pcall(tables[call.table][call.name], call.first, call.second)
    table.insert(answers, { done = done, answer = answer == nil and null or answer })
  end
  return answers
end
"""
TOOL = """function run(what)
  if what == "fail" then error("it was told to fail") end
  return { told = what }
end
"""
INTERFACE = {"methods": [{"name": "run", "input": {"type": "array", "items": {"type": "string"}, "maxItems": 1}}]}


def agent(who):
    return {"id": who, "type": "agent", "content": {"model": who, "prompt": "Go.", "tools": TOOLS, "max_turns": 3}}


ARTIFACTS = [
    {"id": "note", "content": "a note\n"},
    {"id": "bob_note", "content": "to be or not", "created_by": "bob", "access": "public"},
    {"id": "locked", "content": f"{CANARY}-locked", "access": "private"},
    {"id": "hidden", "content": f"{CANARY}-hidden", "access": "private"},
    {"id": "tool", "executable": True, "code": TOOL, "interface": INTERFACE},
    {"id": "operator_asks", "executable": True, "code": ASKS},
    {"id": "bob_asks", "executable": True, "code": ASKS, "created_by": "bob"},
    agent("operator"), agent("bob"),
]
GRANTS = [("query", {"scope": SCOPE}), ("llm", {}), ("drive", {}),
          ("act", {"actions": ["read_artifact", "invoke_artifact", "edit_artifact", "event.emit", "noop"]})]


def main():
    source_root, directory = sys.argv[1:]
    worlds = os.path.join(source_root, "tests/data/worlds")
    shutil.copytree(f"{worlds}/asking", directory)
    shutil.copy(f"{worlds}/counter/counter.lua", directory)
    documents = []
    for name in ("asking", "counter"):
        with open(f"{worlds}/{name}/world.json", encoding="utf-8") as file:
            documents.append(json.load(file))
    world = {"name": "same", "artifacts": ARTIFACTS, "principals": [
        {"id": "carol", "scrip": 7, "quotas": {"disk": 1000}},
        {"id": "bob", "scrip": 10, "grants": [{"cap": f"sys/{cap}@1", "params": params} for cap, params in GRANTS]}]}
    for member in ("schemas", "reducers", "routing"):
        world[member] = [element for document in documents for element in document[member]]
    with open(f"{directory}/world.json", "w", encoding="utf-8") as file:
        json.dump(world, file)
    models = {}
    for name in ("default", "operator", "bob"):
        with open(f"{directory}/{name}.jsonl", "w", encoding="utf-8") as file:
            file.write('{"content": "done"}\n')
        models[name] = {"provider": "script", "file": f"{name}.jsonl"}
    with open(f"{directory}/host.json", "w", encoding="utf-8") as file:
        json.dump({"models": models}, file)


if __name__ == "__main__":
    main()
