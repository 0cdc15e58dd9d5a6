import { ok } from 'neverthrow';
import { sqliteStorage } from '../../../adapters/sqlite/sqlite-storage.js';
import { table } from '../../../src/shared/table.js';

/*
 * A program that writes until it is killed: `node crash-writer.mjs <file> <name> [<number of writes> [<characters of a row>]]`. Each
 * write stores three rows and counts up one; its number and index are printed after the store has acknowledged it, never before.
 */

interface Part {
  readonly writer: string;
  readonly number: number;
  readonly part: number;
  readonly filler: string;
}

interface Count {
  readonly id: 'count';
  readonly count: number;
}

const parts = table<Part>('parts', (part) => [part.writer, part.number, part.part], {
  byPart: { version: 1, key: (part) => [part.part, part.number] },
});
const counts = table<Count>('counts', (count) => [count.id]);
const LANES = 6;

const [, , file = '', writer = '', limit = 'Infinity', characters = '5000'] = process.argv;
const storage = (await sqliteStorage(file))._unsafeUnwrap();
let next = (
  await storage.read((view) => view.list(parts, { prefix: [writer], reverse: true, limit: 1 })[0]?.record.number ?? 0)
)._unsafeUnwrap();
const last = next + Number(limit);

await Promise.all(Array.from({ length: LANES }, lane));
await storage.close();

async function lane(): Promise<void> {
  while (next < last) {
    const number = ++next;
    const written = await storage.write((view) => {
      const filler = 'x'.repeat((number * 397) % Number(characters));
      for (const part of [0, 1, 2]) view.put(parts, { writer, number, part, filler });
      view.put(counts, { id: 'count', count: (view.get(counts, ['count'])?.record.count ?? 0) + 1 });
      // Removes as well as adds: the last but one hundred goes.
      for (const part of [0, 1, 2]) view.remove(parts, [writer, number - 100, part]);
      return ok(null);
    });
    const { index } = written._unsafeUnwrap();
    // A pipe takes a line at once, so what was printed before a kill has been said.
    process.stdout.write(`${number} ${index}\n`);
  }
}
