import fc from 'fast-check';
import { ok, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { answerQuery } from '../../../src/operations/waiting/blocking-query.js';
import type { BlockingQuery } from '../../../src/operations/waiting/parked-queries.js';
import type { ReadView, Storage } from '../../../src/ports/storage.js';
import { fetching } from '../../support/fetching.js';
import { jobFrom } from '../../support/jobs.js';

/* Answers of a store may come late, and in another order than the snapshots that they are of: over a network, or after a sync. */

const query = (id: string): BlockingQuery<number> => ({
  key: id,
  tables: [jobs],
  run: (view: ReadView) => ({ index: view.get(jobs, ['default', id])?.modifyIndex ?? 1, value: view.index }),
});

type Step =
  | { readonly type: 'ask'; readonly id: string }
  | { readonly type: 'put'; readonly id: string }
  | { readonly type: 'answer'; readonly which: number };

const id = fc.constantFrom('a', 'b');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('ask' as const), id }),
  fc.record({ type: fc.constant('put' as const), id }),
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
        else if (each.type === 'put') {
          const record = jobFrom({ ID: each.id }, { Namespace: 'default' });
          newest[each.id] = (await base.write((view) => ok(view.put(jobs, record))))._unsafeUnwrap().index;
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
