/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands: what each takes, what it does, what its help says. */
#include "fs/command/table.h"

const struct wfs_option_row wfs_option_rows[WFS_OPTION_COUNT] = {
#define OPTION_ROW(constant_, name_, letter_, value_, help_) \
	[WFS_OPTION_##constant_] = {(name_), (letter_), (value_), (help_)},
	WFS_OPTIONS(OPTION_ROW)
#undef OPTION_ROW
};

#define GROUP_WORLD "World"
#define GROUP_READ "Read"
#define GROUP_FILES "Files, without a mount"
#define GROUP_ACT "Act"
#define GROUP_PROGRAMS "For programs"

const struct wfs_command wfs_commands[] = {
	{
		.name = "init",
		.group = GROUP_WORLD,
		.arguments = "DIR",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(SOURCE) | WFS_OPTION_BIT(NAME),
		.run = wfs_run_init,
		.summary = "make a world in DIR",
		.help = "DIR is made if it is not there, and must be empty otherwise. With "
			"--from, the world gets the schemas, reducers, routing, principals, "
			"artifacts and handbook that SRC/world.json describes, and SRC/host.json "
			"with the scripts that it names; every problem is reported, and nothing is "
			"made unless there is none. Without, it begins with the genesis artifacts "
			"and the handbook.\n",
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
		.help = "Returns when the tree is usable. If nobody owns the world, a "
			"process that does is started in the background; it ends when its "
			"last mount is taken down, and writes what it has to say to "
			"worldfs.log in the world.\n\n"
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
		.help = "Returns when it is gone, and when the process behind it has let go "
			"of the world if this was its last mount. 'umount MNT' and "
			"'fusermount3 -u MNT' do as well.\n",
	},
	{
		.name = "status",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_status,
		.summary = "height, queue, store and mounts of the world",
		.help = "Prints one JSON document. It has 'pid' when a process owns the "
			"world.\n",
	},
	{
		.name = "serve",
		.group = GROUP_WORLD,
		.arguments = "",
		.options = WFS_OPTION_BIT(PAUSED),
		.run = wfs_run_serve,
		.summary = "own the world in the foreground, until SIGTERM",
		.help = "Serves the control socket, and mounts that other commands ask for. "
			"It stays when the last of them is taken down.\n",
	},
	{
		.name = "trust",
		.group = GROUP_WORLD,
		.arguments = "",
		.options = WFS_OPTION_BIT(YES),
		.run = wfs_run_trust,
		.summary = "agree to what the world's host.json says",
		.help = "Shows what host.json would have this host do: which hosts are asked for "
			"answers of models, with which environment variables. Then asks you. "
			"A world from somebody else, or one whose host.json has changed, asks no "
			"model, and turns and plans that were under way do not go on, until you "
			"have "
			"agreed. A variable goes only to the hosts that your keys.json names.\n",
	},
	{
		.name = "verify",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_verify,
		.summary = "check every hash and derived row of the world",
		.help = "Reads beside a running owner. What is wrong is listed on standard "
			"output, and the exit status is then 1.\n",
	},
	{
		.name = "replay",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_replay,
		.summary = "fold the journal again and compare",
		.help = "Folds the whole journal into a scratch store and compares every "
			"version with what the world has. The first record that differs is "
			"named.\n",
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
		.help = "TREE is a copy of a mount or of one of its heights, made by tar, "
			"cp, rsync or git. With the journal in it, the world gets its "
			"records, and every file of TREE must be what they give; without "
			"it, the world begins with the state of TREE. Every path that "
			"differs is named, and nothing is made unless there is none. With --repair "
			"files that only show what follows from the journal may differ, as in "
			"a copy that rsync has updated without -c: they are named, and not "
			"taken. DIR is made if it is not there, and must be empty "
			"otherwise.\n\n"
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
		.help = "Prints the snapshot hash. Equal states have equal hashes, whatever "
			"their history.\n",
	},
	{
		.name = "backup",
		.group = GROUP_WORLD,
		.arguments = "DIR",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_backup,
		.summary = "a compact copy of the whole world in DIR",
		.help = "DIR is made if it is not there, and must be empty otherwise. It is "
			"a world then, of one moment, with every blob file, whose hashes "
			"were checked. The owner goes on meanwhile. Interrupted or refused, "
			"it leaves nothing in DIR.\n\n"
			"  worldfs -w ~/world backup /backup/$(date +%F)\n",
	},
	{
		.name = "code ls",
		.group = GROUP_WORLD,
		.arguments = "",
		.run = wfs_run_code_ls,
		.summary = "code that ended the process that runs code",
		.help = "A line for each: the hash of the code, how often it ended that process, "
			"whether it is "
			"refused, and what it was called. Code is refused after three times, until "
			"it is written "
			"anew or 'worldfs code lift' is run.\n",
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
		.help = "Its count begins at 0 again. HASH is what 'worldfs code ls' prints.\n",
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
		.help = "What the heights that are kept show stays as it is, and so does the "
			"journal. at/H of a dropped height is gone. It can be interrupted at "
			"any moment and run again, and others write meanwhile. Free pages of "
			"data.mdb are used again, but the file does not shrink; 'worldfs "
			"backup' makes a copy without them.\n\n"
			"  worldfs -w ~/world gc --keep-heights 1000\n",
	},
	{
		.name = "diff",
		.group = GROUP_WORLD,
		.arguments = "H1 H2",
		.argument_min = 2,
		.argument_max = 2,
		.run = wfs_run_diff,
		.summary = "paths that differ between two heights",
		.help = "One line a path, sorted: A added, M modified, D deleted.\n\n"
			"  worldfs diff 100 200\n",
	},
	{
		.name = "manifest",
		.group = GROUP_READ,
		.arguments = "",
		.options = WFS_OPTION_BIT(EXACT_HEIGHT) | WFS_OPTION_BIT(AT_LEAST_HEIGHT),
		.run = wfs_run_manifest,
		.summary = "what the world is made of",
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
		.summary = "the state of one cell",
		.help = "Prints its exact bytes; their SHA-256 is the state's hash. A "
			"reducer without keys has one cell, with the empty key.\n\n"
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
		.summary = "the cells of a reducer",
		.help = "One line a cell, parted by tabs: key, size, height of its last "
			"change, hash. A key that is not plain text is printed as 0x and hex.\n",
	},
	{
		.name = "head",
		.group = GROUP_READ,
		.arguments = "",
		.run = wfs_run_head,
		.summary = "the height of the journal",
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
		.help = "Without TYPE the types are listed; 'worldfs query --help TYPE' tells of "
			"the params and the answer of one. Answers are of the newest height, "
			"and have no content or code of artifacts.\n\n"
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
		.summary = "the records, one a line",
		.help = "Prints the exact lines of the journal. Of a turn these are what it was "
			"asked and told, and what came of that.\n\n"
			"  worldfs journal --from 100 --limit 5\n"
			"  worldfs journal --turn helper.120\n",
	},
	{
		.name = "turns",
		.group = GROUP_READ,
		.arguments = "[AGENT]",
		.argument_max = 1,
		.run = wfs_run_turns,
		.summary = "what agents are doing, and have done",
		.help = "One line a turn, the newest last. Its status is 'running', 'waiting' for "
			"an approval, or why it ended; turns/TURN/ of a mount has the rest.\n\n"
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
		.summary = "the bytes of a blob",
		.help = "HASH is 64 hex digits, with or without 'sha256:' before them.\n",
	},
	{
		.name = "blob put",
		.group = GROUP_READ,
		.arguments = "FILE",
		.argument_min = 1,
		.argument_max = 1,
		.changes = true,
		.run = wfs_run_blob_put,
		.summary = "keep the bytes of FILE (-: standard input)",
		.help = "Prints the hash. At most 11 MiB; larger ones are written to "
			"ctl/put-blob of a mount.\n",
	},
	{
		.name = "blob stat",
		.group = GROUP_READ,
		.arguments = "HASH",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_blob_stat,
		.summary = "size and time of a blob",
		.help = "Prints a JSON document.\n",
	},
	{
		.name = "fs ls",
		.group = GROUP_FILES,
		.arguments = "[PATH]",
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT) | WFS_OPTION_BIT(LONG),
		.run = wfs_run_fs_ls,
		.summary = "names in a directory",
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
		.summary = "the bytes of a file",
		.help = "The same bytes as in a mount.\n",
	},
	{
		.name = "fs stat",
		.group = GROUP_FILES,
		.arguments = "PATH",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_fs_stat,
		.summary = "type, size, time and attributes of a path",
		.help = "Prints a JSON document with the extended attributes.\n",
	},
	{
		.name = "fs tree",
		.group = GROUP_FILES,
		.arguments = "[PATH]",
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_fs_tree,
		.summary = "all paths below a directory",
		.help = "All of it at one height.\n",
	},
	{
		.name = "fs grep",
		.group = GROUP_FILES,
		.arguments = "PATTERN [PATH]",
		.argument_min = 1,
		.argument_max = 2,
		.options = WFS_OPTION_BIT(AT) | WFS_OPTION_BIT(FILES),
		.run = wfs_run_fs_grep,
		.summary = "lines that match, in all files below a path",
		.help = "PATTERN is a Perl-compatible regular expression. Prints "
			"PATH:LINE:TEXT, all of it at one height. The exit status is 1 when "
			"nothing matches.\n\n"
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
		.summary = "send an event, or one for every line",
		.help = "The value stands on the command line, in a file, or comes from "
			"standard input. With --lines each line is a request of its own: "
			"refused ones are listed with their number, the others stand, and "
			"the exit status is then 1.\n\n"
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
		.help = "The action is an object that stands on the command line, in a file, or "
			"comes from standard input. Prints its result. Without one the actions "
			"are listed; 'worldfs invoke --help ACTION' tells of the members of "
			"one. An object without action_type invokes an artifact.\n\n"
			"  worldfs invoke '{\"action_type\":\"read_artifact\","
			"\"artifact_id\":\"doc\"}'\n"
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
		.help = "AGENT is an artifact of the type 'agent'. It is told MESSAGE, or what it "
			"is configured to be told, and works until its model wants no more tools. "
			"Prints its last words; the turn is kept in turns/TURN/ of the tree. On a "
			"terminal a line tells how far it is. Interrupting ends the turn. With "
			"--record, FILE lets the turn be taken again without the model.\n\n"
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
		.summary = "make artifacts of what an agent has inline",
		.help = "Its system_prompt, prompt, prompts and workflow become artifacts that it "
			"names instead: AGENT_personality, AGENT_workflow, AGENT_STATE_prompt. Its "
			"next turn has the same messages as before. The artifacts belong to the "
			"agent, and all may read them if all may read the agent for nothing; else "
			"the agent alone may. Prints a line for each that is written (A) or there "
			"already (=), and for the agent (M). What stands beside a reference is "
			"used "
			"when that dangles, and stays. Run again, it goes on where it was "
			"interrupted.\n\n"
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
		.help = "One JSON document, {agent, artifacts}: the agent, and what it and its "
			"workflow name, each as write_artifact takes it. A memory store has its "
			"entries, with their embeddings. You must be able to read all of it. "
			"What costs to read is paid.\n\n"
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
		.summary = "make what 'agent export' has printed, or other artifacts in JSON",
		.help = "FILE has the document of an export, a list of artifacts, or one artifact: "
			"{id, type, content, ...}. Prints a line for each that is made (A) or "
			"there already (=). One that is there must be the same; a memory store "
			"gets the entries that it lacks. An embedding of another model than the "
			"store's, or the host's when the store is empty, is made anew, for 1 "
			"scrip. Artifacts that were the agent's are given to it; grants are not "
			"imported. Run again, it goes on where it was interrupted.\n\n"
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
		.help = "For a store whose entries have embeddings of a model that host.json does "
			"not name any more: until this is done, nothing is added to it or found in "
			"it. It costs nothing. You must be able to write the store. Interrupted, "
			"it is run again.\n\n"
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
		.summary = "have a model answer, with a plan when tools are needed",
		.help = "The model 'default' of host.json is asked. It answers at once, or with a "
			"plan of "
			"steps, which are run as you: tools, questions to a model, notes; then it "
			"answers from what they gave. The plan is kept in plans/PLAN/ of the tree. "
			"On a terminal a line tells how far it is. Interrupting stops the plan, "
			"and "
			"'worldfs plan resume' goes on with it. What was said before in the "
			"session "
			"is known to the model.\n\n"
			"  worldfs chat 'Which artifacts are there, and who owns them?'\n",
	},
	{
		.name = "plan ls",
		.group = GROUP_READ,
		.arguments = "",
		.options = WFS_OPTION_BIT(SESSION),
		.run = wfs_run_plan_ls,
		.summary = "plans, what they are for and how far they are",
		.help = "A line for each plan, the oldest first.\n",
	},
	{
		.name = "plan show",
		.group = GROUP_READ,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(AT),
		.run = wfs_run_plan_show,
		.summary = "the steps of a plan",
		.help = "What each step is, how it went, and what it depends on; then the answer. "
			"With --json the document as plans/PLAN.json has it.\n",
	},
	{
		.name = "plan watch",
		.group = GROUP_READ,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.run = wfs_run_plan_watch,
		.summary = "follow a plan until it ends",
		.help = "A line for each batch of steps that has ended, and on a terminal a bar "
			"for "
			"the one that runs.\n",
	},
	{
		.name = "plan graph",
		.group = GROUP_READ,
		.arguments = "PLAN",
		.argument_min = 1,
		.argument_max = 1,
		.options = WFS_OPTION_BIT(SVG) | WFS_OPTION_BIT(AT),
		.run = wfs_run_plan_graph,
		.summary = "the steps of a plan as a graph",
		.help = "In the language of Graphviz, as plans/PLAN/graph.dot has it.\n\n"
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
		.summary = "go on with a plan, and wait for its answer",
		.help = "Steps that are done are not run again. One that has ended is told as it "
			"is. "
			"With --retry-failed, the failed steps of a plan that has ended are run "
			"again, and so are the steps that were skipped because of them. "
			"A world goes on with its running plans by itself when it is opened.\n",
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
		.help = "What its steps have done stays done. 'worldfs plan resume' goes on with "
			"it.\n",
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
		.help = "The file is written whole or not at all. 'worldfs plan import' reads "
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
		.help = "FILE is what 'worldfs plan export' wrote: then the plan is as it was, "
			"with "
			"its results; or an object with 'steps', as a model would write it. It is "
			"run "
			"by 'worldfs plan resume', or at once with --resume. plans/PLAN.json has "
			"no "
			"results: steps that are done would run again, so it is taken with --rerun "
			"only. HASH is that of a blob.\n",
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
		.help = "What it has done stays done. Whoever waits for it is told that it was "
			"cancelled.\n\n"
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
		.summary = "let a tool call be made that waits, or not",
		.help = "A rule of the policy with the decision 'ask' makes it wait. "
			"turns/TURN/status names the calls that do. A call that is denied gives "
			"the agent an error. Some models use an id again in a later turn of a run; "
			"then --of-turn says which call is meant, so that nobody decides on a call "
			"that was not looked at.\n\n"
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
		.summary = "let a principal do something",
		.help = "CAP is query, blob, act, drive, llm or admin, or a full name as "
			"sys/query@1. JSON are its params: for query {\"scope\": [PATTERN, ...]}, "
			"patterns over paths of the tree, for act {\"actions\": [...], "
			"\"artifacts\": [PATTERN, ...]}, for drive {\"agents\": [PATTERN, ...], "
			"\"plans\": \"all\", \"approve\": true}; without them it covers all, for "
			"drive the holder's own plans. A principal "
			"that is not an administrator passes on a part of what it holds. Prints "
			"the "
			"grant's name.\n\n"
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
		.help = "And all that was passed on from it. When it returns, nothing of what "
			"only that grant showed can be read any more, not even through a file "
			"that is open.\n",
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
		.summary = "make a principal, who may do nothing yet",
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
		.help = "The highest bid wins and pays the second highest, or 1, which all other "
			"principals share. The winner's artifact is scored from 0 to 100 by its "
			"own "
			"tests, and a tenth of that is minted for the winner; all other bids are "
			"given back. Prints what came of it.\n",
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
			"or removed (D). Grants that world.json declares no more are revoked. A "
			"reducer that has cells cannot be removed. Artifacts, scrip and quotas are "
			"left alone.\n\n"
			"  worldfs apply ./source --dry-run\n",
	},
	{
		.name = "help",
		.group = GROUP_PROGRAMS,
		.arguments = "[COMMAND...]",
		.argument_max = 3,
		.run = wfs_run_help,
		.summary = "what there is, or more about a command",
		.help = "Prints what 'worldfs COMMAND --help' prints, or the list of all commands. "
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
		.help = "Speaks the Model Context Protocol, one message a line: its tools are "
			"those that 'tools' lists, its resources the files of the tree. It "
			"ends with its input, and acts as the principal that --as names.\n",
	},
	{
		.name = "tools",
		.group = GROUP_PROGRAMS,
		.arguments = "",
		.run = wfs_run_tools,
		.summary = "the functions that a model can be given",
		.help = "With --json it prints their function-calling definitions, a bare "
			"array. It needs no world.\n",
	},
};

const size_t wfs_command_count = WFS_ARRAY_COUNT(wfs_commands);
