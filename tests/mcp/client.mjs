// SPDX-License-Identifier: Apache-2.0
// The protocol's own client against `worldfs mcp`: node client.mjs WORLDFS WORLD
// The world is that of tests/mcp/test-client. The client checks every answer against the protocol's
// schemas; what is checked here is what they say about the world.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [worldfs, world, state] = process.argv.slice(2);

function ok(what) {
	console.log(`ok - ${what}`);
}

const transport = new StdioClientTransport({
	command: worldfs,
	args: ["-w", world, "mcp"],
	env: process.env,
	stderr: "inherit",
});
const client = new Client({ name: "worldfs-test", version: "1.0.0" });
let late = /^$/; // an answer that crossed its cancellation
client.onerror = (error) => assert.match(error.message, late);
await client.connect(transport);
assert.equal(client.getServerVersion().name, "worldfs");
assert.deepEqual(client.getServerCapabilities(), { resources: {}, tools: {} });
assert.match(client.getInstructions(), /fs_ls/);
await client.ping();
ok("it connects");

// Every tool, as the client sees it and called by it.
const { tools } = await client.listTools();
const calls = {
	fs_read_manifest: [{}, (found) => assert.equal(found.manifest.name, "counter")],
	fs_read_reducer: [
		{ name: "counter", key: "a/b" },
		(found) => assert.deepEqual([found.found, found.state], [true, { n: 5 }]),
	],
	fs_ls: [
		{ path: "reducers/counter", depth: 2 },
		(found) =>
			assert.deepEqual(
				found.entries.map((entry) => entry.path),
				["reducers/counter/a%2Fb"],
			),
	],
	fs_stat: [
		{ path: "reducers/counter/a%2Fb" },
		(found) => assert.equal(found.size, state.length + 1),
	],
	fs_read: [
		{ path: "reducers/counter/a%2Fb" },
		(found) => assert.equal(found.text, state + "\n"),
	],
	query: [
		{ query_type: "principals", params: { limit: 1, owner: null } },
		(found) => assert.deepEqual(found.results, ["operator"]),
	],
	invoke: [
		{ action: { action_type: "noop", reasoning: "a test" } },
		(found) => assert.equal(found.ok, true),
	],
	step: [
		{ agent: "clerk", message: "Say yes." },
		(found) => assert.equal(found.final_message.content, "yes"),
	],
	chat: [
		{ message: "Say yes.", session_id: "s" },
		(found) => assert.equal(found.final, "yes"),
	],
};
assert.deepEqual(tools.map((tool) => tool.name).sort(), Object.keys(calls).sort());
for (const tool of tools) {
	assert.equal(tool.inputSchema.type, "object");
	assert.equal(tool.inputSchema.additionalProperties, false);
	const [args, check] = calls[tool.name];
	const result = await client.callTool({ name: tool.name, arguments: args });
	assert.equal(result.isError, false);
	assert.equal(result.content.at(-1).type, "text");
	assert.ok(result.structuredContent.meta.journal_height >= 3);
	check(result.structuredContent);
	ok(`${tool.name} is listed and called`);
}

// Errors: of a tool, of the protocol, and a request that is given up.
const refused = await client.callTool({ name: "fs_read", arguments: { path: "nowhere" } });
assert.equal(refused.isError, true);
assert.equal(refused.structuredContent.error.code, "not_found");
await assert.rejects(client.callTool({ name: "fs_read", arguments: { path: 7 } }), { code: -32602 });
await assert.rejects(client.callTool({ name: "rm", arguments: {} }), { code: -32602 });
await assert.rejects(client.readResource({ uri: "worldfs:///nowhere" }), { code: -32002 });
await assert.rejects(client.listResources({ cursor: "no cursor" }), { code: -32602 });
ok("errors are told");
const abort = new AbortController();
const given_up = client.callTool({ name: "fs_ls", arguments: { path: "/", depth: 8 } }, undefined, {
	signal: abort.signal,
});
late = /unknown message ID: .*"path":"\/"/;
abort.abort("no longer wanted");
await assert.rejects(given_up);
await client.ping();
ok("a request is given up");

// Resources: what is listed can be read, and what the templates address.
const { resources } = await client.listResources();
const reducers = await client.callTool({ name: "fs_ls", arguments: { path: "reducers" } });
assert.ok(reducers.structuredContent.entries.length > 1);
assert.deepEqual(
	resources.map((resource) => resource.uri),
	["README", "manifest", ...reducers.structuredContent.entries.map((entry) => entry.path)].map(
		(path) => "worldfs:///" + path,
	),
);
for (const { uri } of resources) {
	const { contents } = await client.readResource({ uri });
	assert.equal(contents[0].uri, uri);
	assert.ok(contents[0].text.length > 0 || uri.includes("/sys.")); // may be empty
}
const { resourceTemplates } = await client.listResourceTemplates();
assert.deepEqual(
	resourceTemplates.map((template) => template.uriTemplate),
	["worldfs:///{+path}", "worldfs:///at/{height}/{+path}"],
);
const cell = await client.readResource({ uri: "worldfs:///reducers/counter/a%2Fb" });
assert.equal(cell.contents[0].text, state + "\n");
assert.equal(cell.contents[0].mimeType, "application/json");
const earlier = await client.readResource({ uri: "worldfs:///at/3/reducers/counter/a%2Fb" });
assert.deepEqual(JSON.parse(earlier.contents[0].text), { n: 2 });
ok("resources are listed and read");

// A hundred at once, each answered as itself.
const heights = await Promise.all(
	Array.from({ length: 100 }, (_, i) =>
		client.callTool({ name: "fs_read", arguments: { path: "README", offset: i, limit: 1 } }),
	),
);
heights.forEach((result, i) => assert.equal(result.structuredContent.offset, i));
ok("a hundred calls at once");

await client.close();
ok("it ends");
