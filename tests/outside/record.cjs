// SPDX-License-Identifier: Apache-2.0
// Loaded into a server of tools that is not ours (node --require): logs what comes in to the file
// $OUTSIDE_LOG, in the form of server.py. A server that speaks HTTP listens at a free port of 127.0.0.1
// alone, prints the port, and ends when its standard input does.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const net = require("node:net");
const { Readable } = require("node:stream");

globalThis.crypto ??= require("node:crypto").webcrypto; // node 18 has it under a flag

function log(entry) {
	fs.appendFileSync(process.env.OUTSIDE_LOG, JSON.stringify({ pid: process.pid, ...entry }) + "\n");
}

function parse(text) {
	try {
		return JSON.parse(text);
	} catch (error) {
		return `not JSON: ${text}`;
	}
}

// Hands every chunk that comes to a stream, and null at its end, to `take` too.
function watch(stream, take) {
	stream.push = function (chunk, encoding) {
		take(chunk);
		return Readable.prototype.push.call(this, chunk, encoding);
	};
}

let unfinished = "";
watch(process.stdin, (chunk) => {
	const lines = (unfinished + (chunk === null ? "" : chunk.toString())).split("\n");
	unfinished = lines.pop();
	for (const line of lines) log({ message: parse(line) });
});

const { emit } = http.Server.prototype;
http.Server.prototype.emit = function (event, request, ...more) {
	if (event === "request") {
		const headers = {};
		for (let i = 0; i < request.rawHeaders.length; i += 2)
			headers[request.rawHeaders[i]] = request.rawHeaders[i + 1];
		if (request.method === "POST") {
			let body = "";
			watch(request, (chunk) => {
				if (chunk === null) log({ message: parse(body), headers });
				else body += chunk.toString();
			});
		} else {
			log({ message: null, headers, [request.method.toLowerCase()]: true });
		}
	}
	return emit.call(this, event, request, ...more);
};

if (process.argv.includes("streamableHttp")) {
	const { listen } = net.Server.prototype;
	console.log = () => {}; // of each request
	net.Server.prototype.listen = function () {
		process.stdin.on("end", () => process.exit()).resume();
		this.on("listening", () => fs.writeSync(1, `${this.address().port}\n`));
		return listen.call(this, { port: 0, host: "127.0.0.1" });
	};
}
