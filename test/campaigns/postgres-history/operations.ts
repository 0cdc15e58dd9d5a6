import { err, ok, type Result } from 'neverthrow';
import type { WriteView } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';

/** One operation of a client, which a model can repeat. */
export interface Operation {
  readonly id: string;
  readonly type: 'set' | 'add' | 'push' | 'pop' | 'claim' | 'count' | 'move' | 'look' | 'fail';
  readonly key: number;
  readonly value: number;
}

interface Register {
  readonly key: number;
  readonly value: number;
}

interface Entry {
  readonly number: number;
  readonly value: number;
}

interface Claim {
  readonly key: number;
  readonly owner: string;
}

/** What an operation has returned, by the index of its write. */
export interface Logged {
  readonly index: number;
  readonly operation: Operation;
  readonly result: number | string;
}

export const registers = table<Register>('registers', ({ key }) => [key], {
  byValue: { version: 1, key: ({ value }) => [value % 10, value] },
});
const queue = table<Entry>('queue', ({ number }) => [number], {}, { numbered: true });
const claims = table<Claim>('claims', ({ key }) => [`unique ${key}`]);
export const log = table<Logged>('log', ({ index }) => [index], {}, { grows: true, numbered: true });

/** Reads with the view, decides, and writes, with a row that tells what was decided. */
export function perform(view: WriteView, operation: Operation): Result<number | string, 'refused'> {
  const result = decide(view, operation);
  if (result === 'refused') return err(result);
  if (operation.type !== 'look') view.put(log, { index: view.index, operation, result });
  return ok(result);
}

/** Reads and changes what an operation is about, and gives its result. */
export function decide(view: WriteView, { id, type, key, value }: Operation): number | string {
  switch (type) {
    case 'set': {
      const before = view.get(registers, [key])?.record.value ?? -1;
      view.put(registers, { key, value });
      return before;
    }
    case 'add': {
      const sum = (view.get(registers, [key])?.record.value ?? 0) + 1;
      view.put(registers, { key, value: sum });
      return sum;
    }
    case 'push': {
      const [last] = view.list(queue, { reverse: true, limit: 1 });
      const number = (last?.record.number ?? 0) + 1;
      view.put(queue, { number, value });
      return number;
    }
    case 'pop': {
      const [first] = view.list(queue, { limit: 1 });
      if (first === undefined) return 'empty';
      view.remove(queue, [first.record.number]);
      return first.record.value;
    }
    case 'claim': {
      const known = view.get(claims, [`unique ${key}`])?.record.owner;
      if (known === undefined) view.put(claims, { key, owner: id });
      else if (value % 3 === 0) view.remove(claims, [`unique ${key}`]);
      return known ?? 'free';
    }
    case 'count':
      return view.list(registers, { from: [key], to: [key + 10] }).length;
    case 'move': {
      // The first of an order, to another place in it.
      const [first] = view.list(registers, { index: 'byValue', prefix: [value % 10], limit: 1 });
      if (first === undefined) return 'none';
      view.put(registers, { key: first.record.key, value: first.record.value + value });
      return first.record.key;
    }
    case 'look':
      return view.list(registers, { index: 'byValue', prefix: [value % 10], reverse: true, limit: 3 }).length;
    case 'fail':
      view.put(registers, { key, value: -value });
      return 'refused';
  }
}
