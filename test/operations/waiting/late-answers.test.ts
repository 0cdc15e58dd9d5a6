import fc from 'fast-check';
import { ok, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { commit } from '../../../src/operations/commit.js';
import { answerQuery } from '../../../src/operations/waiting/blocking-query.js';
import { type BlockingQuery, rowsUnder } from '../../../src/operations/waiting/parked-queries.js';
import type { ReadView, Storage, WriteView } from '../../../src/ports/storage.js';
import { fetching } from '../../support/fetching.js';
import { jobFrom } from '../../support/jobs.js';

/* Answers of a store may come late, and in another order than the snapshots that they are of: over a network, or after a sync. */

const query = (id: string): BlockingQuery<number> => ({
  key: id,
  tables: [rowsUnder(jobs, ['default', id])],
  run: (view: ReadView) => ({ index: view.get(jobs, ['default', id])?.modifyIndex ?? 1, value: view.index }),
});

type Step =
  | { readonly type: 'ask'; readonly id: string }
  /** By this engine, or by another one over the same store. */
  | { readonly type: 'put' | 'put elsewhere'; readonly id: string }
  | { readonly type: 'answer'; readonly which: number };

const id = fc.constantFrom('a', 'b');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('ask' as const), id }),
  fc.record({ type: fc.constantFrom('put' as const, 'put elsewhere' as const), id }),
  fc.record({ type: fc.constant('answer' as const), which: fc.nat(7) }),
);

it.each([
  ['at once', memoryStorage],
  ['again for each row', () => fetching(memoryStorage())],
])('no reader misses a change, and none is answered before there is one, where works run %s', async (_how, storage) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const base = storage();
      const held: (() => void)[] = [];
      const late: Storage = {
        ...base,
        read: (work) => {
          const answer = base.read(work);
          return new ResultAsync(
            new Promise((resolve, reject) => {
              held.push(() => void answer.then(resolve, reject));
            }),
          );
        },
      };
      const clock = manualClock();
      const ids = sequentialIds({ fraction: 0 });
      const engine = createEngine({ storage: late, clock, ids, delivery: recordingDelivery() });
      const newest: Record<string, number> = { a: 1, b: 1 };
      const waiting = new Map<object, { readonly id: string; readonly after: number }>();
      const early: unknown[] = [];
      const take = async (which: number): Promise<void> => {
        held.splice(which % Math.max(held.length, 1), 1)[0]?.();
        await clock.settle();
      };
      for (const each of steps) {
        if (each.type === 'answer') await take(each.which);
        else if (each.type !== 'ask') {
          const record = jobFrom({ ID: each.id }, { Namespace: 'default' });
          const work = (view: WriteView) => ok<void, never>(view.put(jobs, record));
          const written = each.type === 'put' ? commit(engine, hostPrincipal, work) : base.write(work);
          newest[each.id] = (await written)._unsafeUnwrap().index;
          await clock.settle();
        } else {
          const reader = { id: each.id, after: newest[each.id] ?? 1 };
          waiting.set(reader, reader);
          void answerQuery(engine, query(each.id), { after: reader.after }).then((answer) => {
            waiting.delete(reader);
            if (answer._unsafeUnwrap().index <= reader.after) early.push(reader);
          });
          await clock.settle();
        }
      }
      while (held.length > 0) await take(0);
      expect(early).toEqual([]);
      expect([...waiting.values()].filter((reader) => (newest[reader.id] ?? 1) > reader.after)).toEqual([]);
      await engine.stop();
      while (held.length > 0) await take(0);
    }),
    { numRuns: 300 },
  );
});
