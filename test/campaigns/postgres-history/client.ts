import { appendFileSync } from 'node:fs';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { locks } from '../../adapters/postgres/postgres-server.js';
import type { Operation } from './operations.js';
import { perform } from './operations.js';

/** A process that works on the store until it is killed, and notes what was acknowledged: `client.ts URL SCHEMA NAME SEED FILE`. */
const [url = '', schema = '', name = '', seedText = '1', file = ''] = process.argv.slice(2);
let seed = Number(seedText);
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >>> 8) % below;
};
const types = ['set', 'add', 'add', 'push', 'push', 'pop', 'claim', 'count', 'move', 'look', 'fail'] as const;

// The clock of this host is set again and again.
const realNow = Date.now.bind(Date);
let offset = 0;
Date.now = () => realNow() + offset;
process.on('message', (hours: number) => {
  offset = hours * 3_600_000;
});

const opened = await postgresStorage(url, { schema, busyMs: 10_000, ...locks });
if (opened.isErr()) throw new Error(opened.error.message);
const storage = opened.value;
process.send?.('ready');

let count = 0;
async function work(): Promise<void> {
  for (;;) {
    count += 1;
    const type = types[random(types.length)] as Operation['type'];
    const operation = { id: `${name}-${count}`, type, key: random(40), value: random(1000) };
    const begun = process.hrtime.bigint();
    const written = await storage.write((view) => perform(view, operation));
    const ended = process.hrtime.bigint();
    if (written.isOk()) {
      const { value: result, index } = written.value;
      // All of them at once, or none: the file is appended to.
      const note = { operation, result, index, begun: String(begun), ended: String(ended) };
      appendFileSync(file, `${JSON.stringify(note)}\n`);
    } else if (written.error !== 'refused') {
      const failure = { operation, error: written.error };
      appendFileSync(file, `${JSON.stringify(failure)}\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
await Promise.all(Array.from({ length: 8 }, work));
