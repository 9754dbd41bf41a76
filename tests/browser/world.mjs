// SPDX-License-Identifier: Apache-2.0
// The server and all around it that a file of tests has for itself: world.py, spoken with by lines of JSON.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('world.py', import.meta.url));

export class World {
  // `users` may sign in; `options.at`: the server's clock begins there.
  static async start(users, { extra = '', at = null, modules = [] } = {}) {
    const world = new World();
    Object.assign(world, await world.do('start', users, extra, at, modules));
    return world;
  }

  constructor() {
    this.process = spawn('/usr/bin/python3', [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.last = Promise.resolve();
  }

  // One after the other: the answers come in the order of the questions.
  do(what, ...args) {
    const answer = this.last.then(() => {
      this.process.stdin.write(`${JSON.stringify({ do: what, with: args })}\n`);
      return this.#answer(what);
    });
    this.last = answer.catch(() => {});
    return answer;
  }

  ctl(...args) {
    return this.do('ctl', ...args);
  }

  async close() {
    await this.last;
    const ended = once(this.process, 'exit');
    this.process.stdin.end();
    await this.#answer('close');
    await ended;
  }

  async #answer(what) {
    const { value, done } = await this.lines.next();
    if (done) {
      throw new Error(`${what}: world.py ended`);
    }
    const answer = JSON.parse(value);
    if (answer.failed) {
      throw new Error(`${what}: ${answer.failed}`);
    }
    return answer.is;
  }
}
