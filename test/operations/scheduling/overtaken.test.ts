import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { commit } from '../../../src/operations/commit.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { evaluationLoop } from '../../../src/operations/scheduling/evaluation-loop.js';
import { processEvaluation } from '../../../src/operations/scheduling/process-evaluation.js';
import type { Storage, WriteView } from '../../../src/ports/storage.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { groupDocument } from '../../support/jobs.js';
import { settled } from '../../support/settled.js';

/** A store of several processes: this happens after a write was decided, so that it is decided again. */
function contended(inner: Storage, meanwhile: () => Promise<unknown>): Storage {
  let next: typeof meanwhile | undefined = meanwhile;
  return {
    ...inner,
    write: <T, E>(work: (view: WriteView) => Result<T, E>) => {
      const happens = next;
      next = undefined;
      if (happens === undefined) return inner.write(work);
      const contend = async (): Promise<Awaited<ReturnType<typeof inner.write<T, E>>>> => {
        await inner.write((view) => {
          work(view);
          return err('lost');
        });
        await happens();
        return inner.write(work);
      };
      return new ResultAsync(contend());
    },
  };
}

it('a process whose evaluation another one has taken leaves it the next ones for a time, and then continues', async () => {
  const clock = manualClock();
  const inner = memoryStorage();
  const ports = { clock, ids: sequentialIds(), delivery: recordingDelivery() };
  const other = createEngine({ ...ports, storage: inner });
  for (const ID of ['a', 'b'])
    (await registerJob(other, hostPrincipal, { job: { ID, TaskGroups: [groupDocument()] } }))._unsafeUnwrap();
  const pending = async (): Promise<readonly string[]> => {
    const listed = await inner.read((view) => view.list(evaluations, { index: 'due', prefix: ['pending'] }));
    return listed._unsafeUnwrap().map(({ record }) => record.JobID);
  };
  const processFirst = async () =>
    commit(other, hostPrincipal, (tx) => {
      const [next] = tx.list(evaluations, { index: 'due', prefix: ['pending'], limit: 1 });
      return ok(next === undefined ? undefined : processEvaluation(tx, next.record));
    });
  const [first = '', second = ''] = await pending();
  const engine = createEngine({ ...ports, storage: contended(inner, processFirst) });
  const stopping = new AbortController();
  const running = evaluationLoop.run(engine, stopping.signal);
  await expect.poll(pending).toEqual([second]);
  await settled();
  await clock.advance(49);
  await settled();
  expect(await pending()).toEqual([second]);
  expect(first).not.toBe(second);
  await clock.advance(1);
  await expect.poll(pending).toEqual([]);
  stopping.abort();
  await running;
});
