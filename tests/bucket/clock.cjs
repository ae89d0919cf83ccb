// SPDX-License-Identifier: Apache-2.0
// Loaded into a program by `node --require`: its clock is an hour ahead.
const Real = Date;
const AHEAD_MS = 3600 * 1000;

globalThis.Date = class extends Real {
	constructor(...args) {
		super(...(args.length ? args : [Real.now() + AHEAD_MS]));
	}

	static now() {
		return Real.now() + AHEAD_MS;
	}
};
