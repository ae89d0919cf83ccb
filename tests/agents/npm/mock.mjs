// SPDX-License-Identifier: Apache-2.0
// A server of models that is not ours: node mock.mjs. It prints its URL, and ends with its standard
// input; what it was asked is then printed as one line of JSON.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0 });
mock.addFixture({
	match: { toolName: "add", hasToolResult: false },
	response: {
		content: "I add them.",
		toolCalls: [
			{ name: "add", arguments: JSON.stringify({ x: 2, y: 3 }), id: "call_first" },
			{ name: "add", arguments: JSON.stringify({ x: 40, y: 2 }) },
		],
	},
});
mock.addFixture({
	match: { hasToolResult: true },
	response: { content: "They are 5 and 42: größer ☂" },
});
await mock.start();
console.log(mock.url);
for await (const _ of process.stdin);
console.log(JSON.stringify(mock.getRequests().map((entry) => entry.body)));
await mock.stop();
