import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import { type NoticeBatch, noticeBatches } from '../../../src/events/changes.js';
import { SharedEvents } from '../../../src/operations/events/stream-events.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import type { ReadView } from '../../../src/ports/storage.js';
import { serviceJob, type World, world } from '../jobs/world.js';

const read = async <T>(w: World, work: (view: ReadView) => T): Promise<T> =>
  (await w.engine.storage.read(work))._unsafeUnwrap();

async function batchesOf(w: World, jobs: number): Promise<readonly NoticeBatch[]> {
  for (let n = 0; n < jobs; n += 1) {
    (await registerJob(w.engine, hostPrincipal, { job: serviceJob(`web-${n}`) }))._unsafeUnwrap();
  }
  return read(w, (view) => view.list(noticeBatches).map(({ record }) => record));
}

it('an event that two readers want is made once, and only for those who want it', async () => {
  const w = world();
  const [batch] = (await batchesOf(w, 1)) as [NoticeBatch];
  const shared = new SharedEvents();
  const jobs = await read(w, (view) => shared.batchFor(view, batch, ({ Topic }) => Topic === 'Job'));
  expect(jobs.Events.map(({ Topic }) => Topic)).toEqual(['Job']);
  const all = await read(w, (view) => shared.batchFor(view, batch, () => true));
  expect(all.Events.map(({ Topic }) => Topic)).toEqual(['Job', 'Evaluation']);
  expect(all.Events[0]).toBe(jobs.Events[0]);
  expect(all).toEqual({
    Index: batch.Index,
    Events: (await read(w, (view) => new SharedEvents().batchFor(view, batch, () => true))).Events,
  });
});

it('only the newest transactions, and none with many events, are kept', async () => {
  const w = world();
  const batches = await batchesOf(w, 65);
  const shared = new SharedEvents();
  const first = (batch: NoticeBatch) => read(w, (view) => shared.batchFor(view, batch, () => true).Events[0]);
  const made = [];
  for (const batch of batches) made.push(await first(batch));
  expect(await first(batches[64] as NoticeBatch)).toBe(made[64]);
  expect(await first(batches[0] as NoticeBatch)).not.toBe(made[0]);
  const {
    Index,
    Notices: [notice],
  } = batches[3] as NoticeBatch;
  const large = { Index, Notices: Array.from({ length: 101 }, () => notice) } as NoticeBatch;
  expect(await first(large)).toBeDefined();
  expect(await first(large)).not.toBe(await first(large));
});

it('a notice whose record is not kept makes no event', async () => {
  const w = world();
  const [{ Notices }] = (await batchesOf(w, 1)) as [NoticeBatch];
  const unkept = { Index: 1_000_000, Notices };
  expect((await read(w, (view) => new SharedEvents().batchFor(view, unkept, () => true))).Events).toEqual([]);
});
