import { afterEach, expect, it } from 'vitest';
import { eventually, type Installation, installation } from '../../support/installation.js';
import { endAll } from './cli-process.js';

let place: Installation | undefined;
afterEach(async () => {
  endAll();
  await place?.remove();
});

/** Two servers with runners on one store and one runner directory. Both used to run the same allocations. */
it('a second server on a store says that the directory is taken, runs nothing twice, and takes over when it is free', async () => {
  place = await installation();
  const first = await place.serve();
  await place.prepare(first.box);
  const second = await place.serve();
  expect(second.child.error()).toMatch(/directory \S+ is in use by process \d+; serving without a runner/);
  for (let n = 0; n < 10; n += 1) {
    const { box } = n % 2 === 0 ? first : second;
    (await box.jobs.dispatch('work', { meta: { n: String(n) } }))._unsafeUnwrap();
  }
  expect(await eventually(20_000, () => ended().length === 10)).toBe(true);
  expect((await second.box.nodes.list())._unsafeUnwrap().value.items).toHaveLength(1);
  first.child.process.kill('SIGKILL');
  await first.child.ended;
  (await second.box.jobs.dispatch('work', { meta: { n: '10' } }))._unsafeUnwrap();
  expect(await eventually(20_000, () => ended().length === 11)).toBe(true);
  expect([...(place?.marks().values() ?? [])].map((marks) => marks.join())).toEqual(Array(11).fill('begin,end'));
}, 60_000);

function ended(): string[] {
  return [...(place?.marks() ?? [])].flatMap(([run, marks]) => (marks.includes('end') ? [run] : []));
}
