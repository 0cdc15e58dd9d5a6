import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ok } from 'neverthrow';
import { memoryStorage } from '../../../adapters/memory/index.js';
import type { Storage, StorageError } from '../../../src/ports/storage.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';
import { decide, type Logged, log, type Operation, registers } from './operations.js';

const pageSize = 5000;

/** What a process has noted when an operation was acknowledged, or has failed. */
interface Noted {
  readonly operation: Operation;
  readonly result: number | string;
  readonly index: number;
  readonly begun: string;
  readonly ended: string;
  readonly error?: StorageError;
}

/** Compares a store with what its processes have noted; gives the numbers of its writes and of the notes. Throws for a violation. */
export async function checkHistory(storage: Storage, notes: string): Promise<{ writes: number; acknowledged: number }> {
  const acknowledged = readNotes(notes);
  const writes = await checkOrder(storage, acknowledged);
  checkTime(acknowledged);
  return { writes, acknowledged: acknowledged.length };
}

/**
 * Every write again, in the order of the indexes, by a store in memory: the same results, and the same rows at the end. What was acknowledged is
 * there, unchanged and once. Gives the number of writes.
 */
async function checkOrder(storage: Storage, acknowledged: readonly Noted[]): Promise<number> {
  for (const { error } of acknowledged) if (error !== undefined) assert.equal(error.reason, 'busy', error.message);
  const writes = acknowledged.filter(({ operation, error }) => error === undefined && operation.type !== 'look');
  const missing = new Map(writes.map((each) => [each.index, each]));
  assert.equal(missing.size, writes.length, 'an index was given out twice');
  const model = memoryStorage();
  const ids = new Set<string>();
  for (let after = 0; ; ) {
    const page = valueFrom(
      await storage.read((view) => view.list(log, { from: [after + 1], limit: pageSize }).map(({ record }) => record)),
    );
    if (page.length === 0) break;
    for (const { operation, result, index } of page) {
      const again = valueFrom(await model.write((view) => ok(decide(view, operation))));
      assert.deepEqual(again.value, result, `write ${index}: ${JSON.stringify(operation)}`);
      const noted = missing.get(index);
      if (noted !== undefined)
        assert.deepEqual({ operation: noted.operation, result: noted.result }, { operation, result }, `write ${index}`);
      missing.delete(index);
      ids.add(operation.id);
    }
    after = (page.at(-1) as Logged).index;
  }
  assert.deepEqual([...missing.keys()], [], 'these writes were acknowledged and are not there');
  const rowsOf = async (of: Storage): Promise<{ count: number; rows: unknown }> =>
    valueFrom(
      await of.read((view) => ({
        count: view.list(log).length,
        rows: [
          view.list(registers).map(({ record }) => record),
          view.list(registers, { index: 'byValue' }).map(({ record }) => record.key),
        ],
      })),
    );
  const { count, rows } = await rowsOf(storage);
  assert.deepEqual(rows, (await rowsOf(model)).rows);
  assert.equal(ids.size, count, 'an operation was written twice');
  return count;
}

/** What was acknowledged before another one began has the lower index. */
function checkTime(acknowledged: readonly Noted[]): void {
  const writes = acknowledged.filter(({ operation, error }) => error === undefined && operation.type !== 'look');
  const ends = writes.toSorted((a, b) => Number(BigInt(a.ended) - BigInt(b.ended)));
  let at = 0;
  let highest = 0;
  for (const write of writes.toSorted((a, b) => Number(BigInt(a.begun) - BigInt(b.begun)))) {
    for (; at < ends.length && BigInt((ends[at] as Noted).ended) < BigInt(write.begun); at += 1)
      highest = Math.max(highest, (ends[at] as Noted).index);
    assert.ok(write.index > highest, `write ${write.index} began after ${highest} was acknowledged`);
  }
}

function readNotes(file: string): Noted[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Noted);
}
