/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, with their arguments, options and help texts. */
#include "fs/command/table.h"

#include "fs/command/agents/commands.h"
#include "fs/command/help.h"
#include "fs/command/mount/commands.h"
#include "fs/command/read/commands.h"
#include "fs/command/rights/commands.h"
#include "fs/command/world/commands.h"
#include "fs/command/write/commands.h"

#define GROUP_WORLD "World"
#define GROUP_READ "Read"
#define GROUP_FILES "Files, without a mount"
#define GROUP_ACT "Act"
#define GROUP_PROGRAMS "For programs"

static const struct wfs_command rows[] = {
	{
		.name = "init",
		.group = GROUP_WORLD,
		.arguments = "DIR",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(SOURCE) | WFS_OPTION_BIT(NAME),
		.run = wfs_run_init,
		.summary = "make a world in DIR",
		.help = "DIR is created if it does not exist; otherwise it must be empty. With "
			"--from, SRC/world.json describes the world's schemas, reducers, routing, "
			"principals, artifacts and handbook, and SRC/host.json is copied with the "
			"scripts that it names. All problems in SRC are listed; if there are any, "
			"no world is made. Without --from, the world begins with the genesis "
			"artifacts and the handbook.\n",
	},
	{
		.name = "mount",
		.group = GROUP_WORLD,
		.arguments = "MNT",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(ALLOW_OTHER) | WFS_OPTION_BIT(NEST_CTL) |
			WFS_OPTION_BIT(FOREGROUND) | WFS_OPTION_BIT(PAUSED),
		.run = wfs_run_mount,
		.summary = "show the world as files in MNT",
		.help = "Returns when the tree can be used. If no process owns the world, an owner "
			"process is started in the background; it ends when its last mount is "
			"taken down, and logs to worldfs.log in the world directory.\n\n"
			"  worldfs -w ~/world mount ~/mnt && ls ~/mnt/reducers\n",
	},
	{
		.name = "umount",
		.group = GROUP_WORLD,
		.arguments = "MNT",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_umount,
		.summary = "take the mount at MNT down",
		.help = "Returns when the mount is gone. If it was the last mount of a background "
			"owner process, also waits until that process has closed the world. "
			"'umount MNT' and 'fusermount3 -u MNT' take the mount down as well.\n",
	},
	{
		.name = "status",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_status,
		.summary = "print height, queue, store and mounts of the world",
		.help = "Prints one JSON document. It has 'pid' if a process owns the world.\n",
	},
	{
		.name = "serve",
		.group = GROUP_WORLD,
		.arguments = "",
		.options = WFS_OPTION_BIT(PAUSED),
		.run = wfs_run_serve,
		.summary = "own the world in the foreground, until SIGTERM",
		.help = "Serves the control socket, and the mounts that other commands ask for. "
			"Keeps running when the last mount is taken down.\n",
	},
	{
		.name = "trust",
		.group = GROUP_WORLD,
		.arguments = "",
		.options = WFS_OPTION_BIT(YES),
		.run = wfs_run_trust,
		.summary = "agree to what the world's host.json says",
		.help = "Shows what host.json would make this host do: which hosts are asked for "
			"answers of models, and which environment variables they get. Then asks "
			"whether you agree. Until you agree, a world that you did not make, or "
			"whose host.json has changed, asks no model, and its unfinished turns and "
			"plans do not continue. A variable is sent only to the hosts that your "
			"keys.json lists for it.\n",
	},
	{
		.name = "verify",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_verify,
		.summary = "check every hash and derived row of the world",
		.help = "Only reads, and works while another process owns the world. Problems are "
			"listed on standard output, and the exit status is then 1.\n",
	},
	{
		.name = "replay",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_replay,
		.summary = "fold the journal again and compare",
		.help = "Folds the whole journal into a scratch store and compares every version "
			"with that of the world. Names the first record that differs.\n",
	},
	{
		.name = "restore",
		.group = GROUP_WORLD,
		.arguments = "TREE DIR",
		.argument_min = 2,
		.argument_max = 2,
		.options = WFS_OPTION_BIT(REPAIR),
		.run = wfs_run_restore,
		.summary = "make a world in DIR from a copy of a tree",
		.help = "TREE is a copy of a mount or of one of its heights, made by tar, cp, "
			"rsync or git. If it has the journal, the world gets the same records, and "
			"every file of TREE must be what they give; otherwise the world begins "
			"with the state of TREE. All paths that differ are listed; if there are "
			"any, no world is made. With --repair, files that only show what follows "
			"from the journal may differ, as in a copy that rsync has updated without "
			"-c: they are listed, and not used. DIR is created if it does not exist; "
			"otherwise it must be empty.\n\n"
			"  tar -C ~/mnt/at/head -c . | tar -C ~/copy -x\n"
			"  worldfs restore ~/copy ~/world2\n",
	},
	{
		.name = "snapshot",
		.group = GROUP_WORLD,
		.arguments = "",
		.changes = true,
		.run = wfs_run_snapshot,
		.summary = "record the hash of the whole state",
		.help = "Prints the snapshot hash. Equal states have equal hashes, whatever their "
			"history.\n",
	},
	{
		.name = "backup",
		.group = GROUP_WORLD,
		.arguments = "DIR",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_backup,
		.summary = "make a compact copy of the whole world in DIR",
		.help = "DIR is created if it does not exist; otherwise it must be empty. The copy "
			"is a world at one moment, with every blob file; their hashes are checked. "
			"The owner process keeps working. If the command is interrupted or fails, "
			"it leaves nothing.\n\n"
			"  worldfs -w ~/world backup /backup/$(date +%F)\n",
	},
	{
		.name = "code ls",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_code_ls,
		.summary = "list code that ended the process that runs code",
		.help = "Prints a line for each piece of code: its hash, how often it ended that "
			"process, whether it is refused, and the name it was called by. Code that "
			"did so three times is refused until it is written anew or 'worldfs code "
			"lift' is run.\n",
	},
	{
		.name = "code lift",
		.group = GROUP_WORLD,
		.arguments = "HASH",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_code_lift,
		.summary = "let refused code run again",
		.help = "Counting for this code begins at 0 again. HASH is printed by 'worldfs "
			"code ls'.\n",
	},
	{
		.name = "gc",
		.group = GROUP_WORLD,
		.arguments = "",
		.options = WFS_OPTION_BIT(KEEP_HEIGHTS) | WFS_OPTION_BIT(SINCE) |
			WFS_OPTION_BIT(JOURNAL),
		.changes = true,
		.run = wfs_run_gc,
		.summary = "drop old heights, and what only they show",
		.help = "The kept heights stay unchanged, and so does the journal. at/H of a "
			"dropped height disappears. The command can be interrupted at any moment "
			"and run again; others can write while it runs. Free pages of data.mdb are "
			"used again, but the file does not shrink; 'worldfs backup' makes a copy "
			"without them.\n\n"
			"  worldfs -w ~/world gc --keep-heights 1000\n",
	},
	{
		.name = "diff",
		.group = GROUP_WORLD,
		.arguments = "H1 H2",
		.argument_min = 2,
		.argument_max = 2,
		.run = wfs_run_diff,
		.summary = "list the paths that differ between two heights",
		.help = "One line for each path, sorted: A added, M modified, D deleted.\n\n"
			"  worldfs diff 100 200\n",
	},
	{
		.name = "manifest",
		.group = GROUP_READ,
		.arguments = "",
		.options = WFS_OPTION_BIT(EXACT_HEIGHT) | WFS_OPTION_BIT(AT_LEAST_HEIGHT),
		.run = wfs_run_manifest,
		.summary = "print what the world is made of",
		.help = "Prints the exact bytes of the manifest.\n",
	},
	{
		.name = "state",
		.group = GROUP_READ,
		.arguments = "REDUCER [KEY]",
		.argument_min = 1,
		.argument_max = 2,
		.options = WFS_OPTION_BIT(EXACT_HEIGHT) | WFS_OPTION_BIT(AT_LEAST_HEIGHT) |
			WFS_OPTION_BIT(KEY_B64) | WFS_OPTION_BIT(RAW_STATE),
		.empty_argument = true,
		.run = wfs_run_state,
		.summary = "print the state of one cell",
		.help = "Prints its exact bytes; their SHA-256 is the state hash. A reducer "
			"without keys has one cell, with the empty key.\n\n"
			"  worldfs state package bash:amd64 --exact-height 100\n",
	},
	{
		.name = "cells",
		.group = GROUP_READ,
		.arguments = "REDUCER",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(EXACT_HEIGHT) | WFS_OPTION_BIT(AT_LEAST_HEIGHT) |
			WFS_OPTION_BIT(RAW_CELLS),
		.run = wfs_run_cells,
		.summary = "list the cells of a reducer",
		.help = "One line for each cell, with fields separated by tabs: key, size, height "
			"of the last change, hash. A key that is not plain text is printed as 0x "
			"and hexadecimal digits.\n",
	},
	{
		.name = "head",
		.group = GROUP_READ,
		.arguments = "",
		.run = wfs_run_head,
		.summary = "print the height of the journal",
		.help = "Prints height, manifest hash and newest snapshot hash as a JSON "
			"document.\n",
	},
	{
		.name = "query",
		.group = GROUP_READ,
		.arguments = "[TYPE] [NAME=VALUE...]",
		.argument_max = WFS_ARGUMENTS_MAX,
		.run = wfs_run_query,
		.topic = wfs_query_topic,
		.summary = "ask about artifacts, scrip, quotas, the mint",
		.help = "Without TYPE, lists the types; 'worldfs query --help TYPE' describes the "
			"parameters and the answer of one. Answers are those of the newest height, "
			"and do not have content or code of artifacts.\n\n"
			"  worldfs query artifacts owner=alice executable=true limit=20\n"
			"  worldfs query balances\n",
	},
	{
		.name = "journal",
		.group = GROUP_READ,
		.arguments = "",
		.options = WFS_OPTION_BIT(FOLLOW) | WFS_OPTION_BIT(FROM_SEQ) |
			WFS_OPTION_BIT(LIMIT) | WFS_OPTION_BIT(TURN),
		.run = wfs_run_journal,
		.summary = "print the records, one a line",
		.help = "Prints the exact lines of the journal. With --turn, prints only the "
			"records of that turn of an agent.\n\n"
			"  worldfs journal --from 100 --limit 5\n"
			"  worldfs journal --turn helper.120\n",
	},
	{
		.name = "turns",
		.group = GROUP_READ,
		.arguments = "[AGENT]",
		.argument_max = 1,
		.run = wfs_run_turns,
		.summary = "list the turns of agents",
		.help = "One line for each turn, the newest last. Its status is 'running', "
			"'waiting' (for an approval), or why the turn ended; turns/TURN/ of a "
			"mount has all about it.\n\n"
			"  worldfs turns helper\n"
			"  worldfs fs cat turns/helper.120/transcript.md\n",
	},
	{
		.name = "blob get",
		.group = GROUP_READ,
		.arguments = "HASH",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_blob_get,
		.summary = "print the bytes of a blob",
		.help = "HASH is 64 hexadecimal digits, with or without the prefix 'sha256:'.\n",
	},
	{
		.name = "blob put",
		.group = GROUP_READ,
		.arguments = "FILE",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_blob_put,
		.summary = "store the bytes of FILE (-: standard input)",
		.help = "Prints the hash. The limit is 11 MiB; larger blobs are written to "
			"ctl/put-blob of a mount.\n",
	},
	{
		.name = "blob stat",
		.group = GROUP_READ,
		.arguments = "HASH",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_blob_stat,
		.summary = "print size and time of a blob",
		.help = "Prints a JSON document.\n",
	},
	{
		.name = "fs ls",
		.group = GROUP_FILES,
		.arguments = "[PATH]",
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT) | WFS_OPTION_BIT(LONG),
		.run = wfs_run_fs_ls,
		.summary = "list the names in a directory",
		.help = "The paths are those of a mount.\n\n"
			"  worldfs fs ls -l reducers/package --at 100\n",
	},
	{
		.name = "fs cat",
		.group = GROUP_FILES,
		.arguments = "PATH",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_fs_cat,
		.summary = "print the bytes of a file",
		.help = "Prints the bytes that the file has in a mount.\n",
	},
	{
		.name = "fs stat",
		.group = GROUP_FILES,
		.arguments = "PATH",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_fs_stat,
		.summary = "print type, size, time and attributes of a path",
		.help = "Prints a JSON document with the extended attributes.\n",
	},
	{
		.name = "fs tree",
		.group = GROUP_FILES,
		.arguments = "[PATH]",
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_fs_tree,
		.summary = "print all paths below a directory",
		.help = "The listing shows a single height.\n",
	},
	{
		.name = "fs grep",
		.group = GROUP_FILES,
		.arguments = "PATTERN [PATH]",
		.argument_min = 1,
		.argument_max = 2,
		.options = WFS_OPTION_BIT(AT) | WFS_OPTION_BIT(FILES),
		.run = wfs_run_fs_grep,
		.summary = "print lines that match, in all files below a path",
		.help = "PATTERN is a Perl-compatible regular expression. Prints PATH:LINE:TEXT. "
			"The search reads a single height. The exit status is 1 if nothing "
			"matches.\n\n"
			"  worldfs fs grep '\"status\":\"config-files\"' reducers/package -l\n",
	},
	{
		.name = "event",
		.group = GROUP_ACT,
		.arguments = "SCHEMA JSON|@FILE|@-",
		.argument_min = 2,
		.argument_max = 2,
		.options = WFS_OPTION_BIT(LINES) | WFS_OPTION_BIT(KEY),
		.changes = true,
		.run = wfs_run_event,
		.summary = "send an event, or one for each line",
		.help = "The value is given on the command line, in a file, or on standard input. "
			"With --lines, each line is sent as a request of its own: refused lines "
			"are listed with their numbers, the other lines take effect, and the exit "
			"status is then 1.\n\n"
			"  worldfs event dpkg/Change@1 @events.jsonl --lines\n",
	},
	{
		.name = "invoke",
		.group = GROUP_ACT,
		.arguments = "[JSON|@FILE|@-]",
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_invoke,
		.topic = wfs_invoke_topic,
		.summary = "perform an action, such as writing an artifact",
		.help = "The action is an object given on the command line, in a file, or on "
			"standard input. Prints its result. Without an argument, lists the "
			"actions; 'worldfs invoke --help ACTION' describes the members of one. An "
			"object without action_type invokes an artifact.\n\n"
			"  worldfs invoke "
			"'{\"action_type\":\"read_artifact\",\"artifact_id\":\"doc\"}'\n"
			"  worldfs invoke '{\"artifact_id\":\"add\",\"args\":[1,2]}'\n",
	},
	{
		.name = "step",
		.group = GROUP_ACT,
		.arguments = "AGENT [MESSAGE|@FILE|@-]",
		.argument_min = 1,
		.argument_max = 2,
		.options = WFS_OPTION_BIT(TURNS) | WFS_OPTION_BIT(MAX_TURNS) |
			WFS_OPTION_BIT(MESSAGES) | WFS_OPTION_BIT(TOOLS) | WFS_OPTION_BIT(TIMEOUT) |
			WFS_OPTION_BIT(NO_WAIT) | WFS_OPTION_BIT(RECORD),
		.changes = true,
		.run = wfs_run_step,
		.summary = "have an agent take a turn",
		.help = "AGENT is an artifact of the type 'agent'. It is given MESSAGE, or by "
			"default the prompt in its configuration, and works until its model asks "
			"for no more tool calls. Prints the agent's last words; turns/TURN/ of the "
			"tree keeps the turn. On a terminal, a line shows the progress. "
			"Interrupting the command ends the turn. With --record, FILE allows the "
			"turn to be taken again without the model.\n\n"
			"  worldfs step helper 'Which packages are held back?'\n"
			"  worldfs step helper --timeout 10m --record helper.jsonl\n",
	},
	{
		.name = "agent migrate",
		.group = GROUP_ACT,
		.arguments = "AGENT",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(DRY_RUN),
		.changes = true,
		.run = wfs_run_agent_migrate,
		.summary = "move inline parts of an agent into artifacts",
		.help = "The agent's system_prompt, prompt, prompts and workflow become artifacts, "
			"which the agent names instead: AGENT_personality, AGENT_workflow, "
			"AGENT_STATE_prompt. The messages of its next turn stay as before. The "
			"artifacts belong to the agent, and everyone may read them if everyone may "
			"read the agent for free; otherwise only the agent may. Prints a line for "
			"each artifact that is written (A) or exists already (=), and for the "
			"agent (M). A text next to a member that already names an artifact stays "
			"inline, because it is used when that artifact does not exist. If the "
			"command is interrupted, running it again continues.\n\n"
			"  worldfs agent migrate helper --dry-run\n",
	},
	{
		.name = "agent export",
		.group = GROUP_ACT,
		.arguments = "AGENT",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_agent_export,
		.summary = "print an agent with its prompts, workflow and memories",
		.help = "Prints one JSON document, {agent, artifacts}: the agent, and the "
			"artifacts that it and its workflow name, each in the form that "
			"write_artifact takes. A memory store has its entries, with their "
			"embeddings. You must be able to read all of them, and pay their "
			"prices.\n\n"
			"  worldfs --as helper agent export helper > helper.json\n",
	},
	{
		.name = "agent import",
		.group = GROUP_ACT,
		.arguments = "FILE|-",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(ARTIFACT_ID),
		.changes = true,
		.run = wfs_run_agent_import,
		.summary = "make an exported agent, or other artifacts given in JSON",
		.help = "FILE has the document of an export, a list of artifacts, or one artifact: "
			"{id, type, content, ...}. Prints a line for each artifact that is made "
			"(A) or exists already (=). An existing artifact must have this type, "
			"content and code; an existing memory store gets the entries that it does "
			"not have. An embedding that was not made by the store's model, or in an "
			"empty store by the host's, is made anew, for 1 scrip. Artifacts that "
			"belonged to the agent are given to it; grants are not imported. If the "
			"command is interrupted, running it again continues.\n\n"
			"  worldfs agent import helper.json\n"
			"  worldfs agent import store.json --id helper_memory\n",
	},
	{
		.name = "memory reembed",
		.group = GROUP_ACT,
		.arguments = "STORE",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_memory_reembed,
		.summary = "make the embeddings of a memory store with the host's model",
		.help = "Needed if the entries have embeddings of a model that host.json does not "
			"name any more: until then nothing can be added to the store or found in "
			"it. Costs nothing. You must be able to write the store. If the command is "
			"interrupted, run it again.\n\n"
			"  worldfs --as helper memory reembed helper_memory\n",
	},
	{
		.name = "chat",
		.group = GROUP_ACT,
		.arguments = "MESSAGE|@FILE|@-",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(SESSION) | WFS_OPTION_BIT(PLAN) | WFS_OPTION_BIT(BATCH) |
			WFS_OPTION_BIT(CONCURRENCY),
		.changes = true,
		.run = wfs_run_chat,
		.summary = "have a model answer, with a plan if tools are needed",
		.help = "Asks the model 'default' of host.json. The model answers at once, or "
			"makes a plan of steps, which run with your rights: tools, questions to a "
			"model, notes. Then it answers based on their results. plans/PLAN/ of the "
			"tree keeps the plan. On a terminal, a line shows the progress. "
			"Interrupting the command stops the plan, and 'worldfs plan resume' "
			"continues it. The model is given the earlier messages of the session.\n\n"
			"  worldfs chat 'Which artifacts are there, and who owns them?'\n",
	},
	{
		.name = "plan ls",
		.group = GROUP_READ,
		.arguments = "",
		.options = WFS_OPTION_BIT(SESSION),
		.run = wfs_run_plan_ls,
		.summary = "list plans, with their goals and progress",
		.help = "One line for each plan, the oldest first.\n",
	},
	{
		.name = "plan show",
		.group = GROUP_READ,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_plan_show,
		.summary = "print the steps of a plan",
		.help = "For each step: what it is, how it went, and what it depends on; then the "
			"answer. With --json, prints the document plans/PLAN.json.\n",
	},
	{
		.name = "plan watch",
		.group = GROUP_READ,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_plan_watch,
		.summary = "follow a plan until it ends",
		.help = "Prints a line for each batch of steps when the batch ends; on a terminal, "
			"a bar shows the progress of the current batch.\n",
	},
	{
		.name = "plan graph",
		.group = GROUP_READ,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(SVG) | WFS_OPTION_BIT(AT),
		.run = wfs_run_plan_graph,
		.summary = "print the steps of a plan as a graph",
		.help = "The graph is in the language of Graphviz, as in plans/PLAN/graph.dot.\n\n"
			"  worldfs plan graph --svg PLAN > plan.svg\n",
	},
	{
		.name = "plan resume",
		.group = GROUP_ACT,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(RETRY_FAILED),
		.changes = true,
		.run = wfs_run_plan_resume,
		.summary = "continue a plan, and wait for its answer",
		.help = "Steps that are done are not run again. If the plan has ended, its result "
			"is printed. With --retry-failed, the failed steps of a plan that has "
			"ended are run again, and so are the steps that were skipped because of "
			"them. A world continues its running plans by itself when it is opened.\n",
	},
	{
		.name = "plan cancel",
		.group = GROUP_ACT,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_plan_cancel,
		.summary = "stop a plan",
		.help = "The effects of its steps stay. 'worldfs plan resume' continues the "
			"plan.\n",
	},
	{
		.name = "plan export",
		.group = GROUP_READ,
		.arguments = "PLAN FILE",
		.argument_min = 2,
		.argument_max = 2,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_plan_export,
		.summary = "write a plan with its results to a file",
		.help = "The file is written completely or not at all. 'worldfs plan import' reads "
			"it.\n",
	},
	{
		.name = "plan import",
		.group = GROUP_ACT,
		.arguments = "FILE|-|HASH",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(SESSION) | WFS_OPTION_BIT(RESUME) |
			WFS_OPTION_BIT(RERUN) | WFS_OPTION_BIT(BATCH) | WFS_OPTION_BIT(CONCURRENCY),
		.changes = true,
		.run = wfs_run_plan_import,
		.summary = "take a plan from a file",
		.help = "FILE was written by 'worldfs plan export', and the plan is imported with "
			"its results; or it is an object with 'steps' in the form that a model "
			"writes. 'worldfs plan resume' runs the plan; with --resume it runs at "
			"once. plans/PLAN.json has no results, so its steps that are done would "
			"run again; it is taken only with --rerun. HASH is the hash of a blob.\n",
	},
	{
		.name = "cancel",
		.group = GROUP_ACT,
		.arguments = "TURN",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_cancel,
		.summary = "end a turn of an agent",
		.help = "The effects of the turn stay. A caller that waits for it gets the error "
			"'cancelled'.\n\n"
			"  worldfs cancel helper.120\n",
	},
	{
		.name = "approve",
		.group = GROUP_ACT,
		.arguments = "TURN CALL [allow|deny]",
		.argument_min = 2,
		.argument_max = 3,
		.options = WFS_OPTION_BIT(OF_TURN),
		.changes = true,
		.run = wfs_run_approve,
		.summary = "allow or deny a tool call that waits for approval",
		.help = "A rule of the policy with the decision 'ask' makes a call wait. "
			"turns/TURN/status lists these calls. For a denied call the agent gets an "
			"error. Some models use a call id again in a later answer; then --of-turn "
			"says which call is meant, so that nobody decides about a call without "
			"having seen it.\n\n"
			"  worldfs approve helper.120 call_1\n"
			"  worldfs approve helper.120 call_1 deny\n",
	},
	{
		.name = "grant",
		.group = GROUP_ACT,
		.arguments = "PRINCIPAL CAP [JSON]",
		.argument_min = 2,
		.argument_max = 3,
		.options = WFS_OPTION_BIT(GRANT_NAME) | WFS_OPTION_BIT(TO_ARTIFACT_OF) |
			WFS_OPTION_BIT(EXPIRES) | WFS_OPTION_BIT(CALLS) | WFS_OPTION_BIT(TOKENS),
		.changes = true,
		.run = wfs_run_grant,
		.summary = "give a principal a capability",
		.help = "CAP is query, blob, act, drive, llm or admin, or a full name such as "
			"sys/query@1. JSON are its parameters: for query {\"scope\": [PATTERN, "
			"...]}, patterns for paths of the tree; for act {\"actions\": [...], "
			"\"artifacts\": [PATTERN, ...]}; for drive {\"agents\": [PATTERN, ...], "
			"\"plans\": \"all\", \"approve\": true}. Without parameters the grant "
			"covers everything, but for drive only the holder's own plans. A principal "
			"that is not an administrator can pass on part of what it holds. Prints "
			"the name of the grant.\n\n"
			"  worldfs grant alice query '{\"scope\":[\"reducers/package/lib*\"]}'\n",
	},
	{
		.name = "revoke",
		.group = GROUP_ACT,
		.arguments = "GRANT",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_revoke,
		.summary = "take a grant back",
		.help = "All grants that were passed on from it are taken back, too. When the "
			"command returns, nothing that only these grants made visible can be read "
			"any more, not even through an open file.\n",
	},
	{
		.name = "principal add",
		.group = GROUP_ACT,
		.arguments = "ID",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(SCRIP) | WFS_OPTION_BIT(QUOTA),
		.changes = true,
		.run = wfs_run_principal_add,
		.summary = "make a principal that holds no grants",
		.help = "ID has letters, digits and ._#@:-, at most 128. A resource without a "
			"quota is not limited.\n\n"
			"  worldfs principal add alice --scrip 100 --quota disk=1000000\n",
	},
	{
		.name = "mint resolve",
		.group = GROUP_ACT,
		.arguments = "",
		.changes = true,
		.run = wfs_run_mint_resolve,
		.summary = "end the auction of the mint",
		.help = "The highest bid wins and pays the second highest bid, or 1, which all "
			"other principals share. The winner's artifact is scored from 0 to 100 by "
			"its own tests, and a tenth of the score is minted for the winner. All "
			"other bids are returned. Prints the result.\n",
	},
	{
		.name = "apply",
		.group = GROUP_ACT,
		.arguments = "SRC",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(DRY_RUN) | WFS_OPTION_BIT(BASE),
		.changes = true,
		.run = wfs_run_apply,
		.summary = "change what the world is made of",
		.help = "SRC is a directory with world.json and the files it names, as for 'init "
			"--from'. Prints a line for each definition that is added (A), changed (M) "
			"or removed (D). Grants that world.json does not declare any more are "
			"revoked. A reducer that has cells cannot be removed. Artifacts, scrip and "
			"quotas stay as they are.\n\n"
			"  worldfs apply ./source --dry-run\n",
	},
	{
		.name = "help",
		.group = GROUP_PROGRAMS,
		.arguments = "[COMMAND...]",
		.argument_max = 3,
		.run = wfs_run_help,
		.summary = "list the commands, or describe one",
		.help = "Prints the list of all commands, or what 'worldfs COMMAND --help' prints. "
			"'query' and 'invoke' also take the name of one of their types.\n\n"
			"  worldfs help plan show\n"
			"  worldfs help query artifacts\n",
	},
	{
		.name = "mcp",
		.group = GROUP_PROGRAMS,
		.arguments = "",
		.run = wfs_run_mcp,
		.summary = "serve the world to a model's client, on standard input and output",
		.help = "Speaks the Model Context Protocol, one message a line. Its tools are "
			"those that 'worldfs tools' lists; its resources are the files of the "
			"tree. It ends when its input ends, and acts as the principal that --as "
			"names.\n",
	},
	{
		.name = "tools",
		.group = GROUP_PROGRAMS,
		.arguments = "",
		.run = wfs_run_tools,
		.summary = "list the functions that a model can be given",
		.help = "With --json, prints their function-calling definitions, a plain array. "
			"The command does not need a world.\n",
	},
};

const struct wfs_commands wfs_commands = {rows, WFS_ARRAY_COUNT(rows)};
