import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { afterAll, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import type { ListQuery, ReadView, Storage, WriteView } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';
import { scratchFolder } from './sqlite-files.js';

/*
 * A connection knows of rows that it has written or read, of keys without a row, of its newest row, and of the ranges of indexes in which
 * there is nothing. None of it may show, whichever connection changes the file, and whatever fails.
 */

interface Task {
  readonly number: number;
  readonly value: number;
  readonly due?: number | undefined;
  readonly late?: number | undefined;
}

const indexes = {
  due: { version: 1, key: ({ due, number }: Task) => (due === undefined ? undefined : [due, number]) },
  late: { version: 1, key: ({ late, number }: Task) => (late === undefined ? undefined : [late, number]), lazy: 3 },
};
const tasks = table<Task>('tasks', ({ number }) => [number], indexes, { numbered: true, grows: true });
/** Of another program over the same file. */
const otherTasks = table<Task>(
  'tasks',
  ({ number }) => [number],
  { due: indexes.due, value: { version: 1, key: ({ value }) => [value] } },
  { numbered: true, grows: true },
);

const folder = scratchFolder();
afterAll(() => folder.remove());
let files = 0;

const number = fc.nat({ max: 7 });
const time = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });
const bound = fc.integer({ min: 0, max: 5 });
const index = fc.constantFrom('due', 'late', undefined);
const query: fc.Arbitrary<ListQuery> = fc
  .record({
    index,
    from: bound,
    to: bound,
    prefix: bound,
    limit: fc.constantFrom(0, 1, 2, 100),
    kind: fc.nat({ max: 5 }),
  })
  .map(({ index: name, from, to, prefix, limit, kind }) => {
    const of = name === undefined ? {} : { index: name };
    if (kind === 0) return { ...of, to: [to], limit };
    if (kind === 1) return { ...of, from: [from], limit };
    if (kind === 2) return { ...of, prefix: [prefix] };
    if (kind === 3) return { ...of, from: [from], to: [to], reverse: true };
    return { ...of, limit };
  });
const look = fc.oneof(
  { weight: 3, arbitrary: query.map((asked) => (view: ReadView) => listed(view, asked)) },
  { weight: 1, arbitrary: number.map((asked) => (view: ReadView) => view.get(tasks, [asked])?.record) },
  { weight: 1, arbitrary: fc.constant((view: ReadView) => [view.index, view.tableIndex(tasks)]) },
);
const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ number, value: number, due: time, late: time }) },
  { weight: 1, arbitrary: fc.record({ removed: number }) },
);
const turn = fc.record({
  by: fc.constantFrom(0, 0, 1),
  /** By the definition of the other program, in programs where it takes part. */
  byOther: fc.nat({ max: 3 }).map((chance) => chance === 0),
  before: fc.array(look, { maxLength: 3 }),
  changes: fc.array(change, { maxLength: 3 }),
  after: fc.array(look, { maxLength: 3 }),
  outcome: fc.constantFrom('ok', 'ok', 'ok', 'err', 'throws'),
  reads: fc.array(look, { maxLength: 4 }),
});
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

const listed = (view: ReadView, asked: ListQuery): unknown =>
  view.list(tasks, asked).map(({ record, createIndex, modifyIndex }) => [record, createIndex, modifyIndex]);

function apply(view: WriteView, { byOther, changes }: Turn): void {
  const of = byOther ? otherTasks : tasks;
  for (const each of changes) {
    if ('removed' in each) view.remove(of, [each.removed]);
    else view.put(of, each);
  }
}

async function play(storage: Storage, played: Turn): Promise<unknown> {
  let seen: unknown[] = [];
  const write = storage.write((view) => {
    seen = played.before.map((each) => each(view));
    apply(view, played);
    seen.push(...played.after.map((each) => each(view)));
    if (played.outcome === 'throws') throw new Error('the work fails');
    return played.outcome === 'ok' ? ok(null) : err('refused' as const);
  });
  const ended = await write.then(
    (result) => (result.isOk() ? result.value.index : 'refused'),
    () => 'thrown',
  );
  return { seen, ended };
}

const read = async (storage: Storage, { reads }: Turn): Promise<unknown> =>
  valueFrom(await storage.read((view) => reads.map((each) => each(view))));

test('what a connection knows of its rows never shows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 30 }), fc.boolean(), async (generated, withOther) => {
      const turns = generated.map((each) => ({ ...each, byOther: withOther && each.byOther }));
      const path = folder.path(`${files++}.db`);
      const connections = [valueFrom(await sqliteStorage(path)), valueFrom(await sqliteStorage(path))];
      const model = memoryStorage();
      for (const each of turns) {
        expect(await play(connections[each.by] as Storage, each)).toEqual(await play(model, each));
        const expected = await read(model, each);
        for (const storage of [...connections, ...connections]) expect(await read(storage, each)).toEqual(expected);
      }
      for (const storage of connections) await storage.close();
      valueFrom(await sqliteStorage(path, { checkPages: true }));
    }),
    { numRuns: 80 },
  );
});
