import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Playground } from '../../../../adapters/cli/play/playground.js';
import { type TestEngine, testEngine } from '../../../../adapters/testing/index.js';
import { exportStore, hostPrincipal, orThrow } from '../../../../src/index.js';
import { hour, minute } from '../../../../src/shared/duration.js';

/* An installation on virtual time that can go back. */

const folder = mkdtempSync(join(tmpdir(), 'signalbox-play-'));
const file = join(folder, 'incident.jsonl');
const task = { Name: 't', Driver: 'exec', Config: { command: '/bin/true' } };
const group = { Name: 'g', Tasks: [task] };

beforeAll(async () => {
  await using world = await testEngine({ nodes: 2 });
  await world.settle();
  const box = world.engine.as(hostPrincipal);
  const periodic = { Periodic: { Enabled: true, Specs: ['*/10 * * * *'], SpecType: 'cron' } };
  await orThrow(box.jobs.register({ ID: 'sync', Type: 'batch', Datacenters: ['*'], TaskGroups: [group], ...periodic }));
  await orThrow(box.jobs.register({ ID: 'web', Type: 'service', Datacenters: ['*'], TaskGroups: [group] }));
  await world.advance(7 * minute);
  const pieces: string[] = [];
  await orThrow(exportStore(world.engine, () => (piece) => void pieces.push(piece)));
  writeFileSync(file, pieces.join(''));
});
afterAll(() => rmSync(folder, { recursive: true }));

const make = (): Promise<TestEngine> =>
  testEngine({
    from: file,
    behaviour: ({ JobType }) => (JobType === 'batch' ? { ends: 'complete', after: minute } : {}),
  });

async function begin(more: Partial<Parameters<typeof Playground.begin>[1]> = {}) {
  const playground = await Playground.begin('incident.jsonl', { make, leave: () => undefined, ...more });
  const arrived = async (at: number): Promise<void> => {
    playground.moveTo(at);
    await expect.poll(() => playground.state(), { interval: 2 }).toMatchObject({ now: at, isMoving: false });
  };
  return { playground, arrived, start: playground.state().start };
}

/** All that callers see of jobs, allocations and runs. */
async function contentsOf({ engine }: TestEngine): Promise<unknown> {
  const box = engine.as(hostPrincipal);
  const jobs = (await orThrow(box.jobs.list({ namespace: '*' }))).value.items;
  const of = jobs.map(async ({ ID }) => ({
    ID,
    allocations: (await orThrow(box.jobs.allocations(ID))).value,
    evaluations: (await orThrow(box.jobs.evaluations(ID))).value,
  }));
  return { jobs, of: await Promise.all(of) };
}

async function worldAt(at: number): Promise<unknown> {
  await using world = await make();
  await world.clock.advanceTo(at);
  return contentsOf(world);
}

const present = ({ world }: Playground): Promise<unknown> => contentsOf(world);

describe('a playground', () => {
  it('has at any time what an installation has that went there once, whichever way it came', async () => {
    const ways = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(ways, async (minutes) => {
        const { playground, arrived, start } = await begin();
        for (const each of minutes) await arrived(start + each * minute);
        const last = start + (minutes.at(-1) ?? 0) * minute;
        expect(await present(playground)).toEqual(await worldAt(last));
        await playground.stop();
      }),
      { numRuns: 5 },
    );
  });

  it('stands still, and begins at the time of the export', async () => {
    const { playground, start } = await begin();
    expect(playground.state()).toEqual({
      ...{
        now: start,
        target: start,
        isMoving: false,
        start,
        end: start + 30 * 24 * hour,
        world: 0,
        title: 'incident.jsonl',
      },
    });
    playground.moveTo(start);
    await playground.world.settle();
    expect(playground.state()).toMatchObject({ now: start, isMoving: false, world: 0 });
    await playground.stop();
  });

  it('forgets what was changed by hand when it goes back, and counts it', async () => {
    const left: unknown[] = [];
    const { playground, arrived, start } = await begin({ leave: () => left.push(playground.world) });
    const first = playground.world;
    const box = first.engine.as(hostPrincipal);
    await orThrow(box.jobs.stop('web'));
    const jobs = (await orThrow(box.jobs.list())).value.items;
    expect(jobs.find(({ ID }) => ID === 'web')).toMatchObject({ Stop: true });
    await arrived(start + 30 * minute);
    await arrived(start + 20 * minute);
    expect(playground.state().world).toBe(1);
    // No caller gets the old one any more when what waits for it ends.
    expect(left).toEqual([playground.world]);
    expect(playground.world).not.toBe(first);
    expect(await present(playground)).toEqual(await worldAt(start + 20 * minute));
    await playground.stop();
  });

  it('goes to the last of several targets', async () => {
    const { playground, arrived, start } = await begin();
    playground.moveTo(start + 20 * hour);
    playground.moveTo(start + 5 * minute);
    playground.moveTo(start + 3 * hour);
    await arrived(start + 40 * minute);
    expect(await present(playground)).toEqual(await worldAt(start + 40 * minute));
    await playground.stop();
  });

  it('ends in the middle of a move', async () => {
    const { playground, start } = await begin();
    playground.moveTo(start + 30 * 24 * hour);
    await playground.stop();
    expect(playground.state().now).toBeLessThan(start + 2 * hour);
  });

  it('says why it cannot go back', async () => {
    let isBroken = false;
    const broken = (): Promise<TestEngine> => (isBroken ? Promise.reject(new Error('the file is gone')) : make());
    const { playground, arrived, start } = await begin({ make: broken });
    await arrived(start + hour);
    isBroken = true;
    playground.moveTo(start);
    expect(await playground.failure).toEqual({ error: new Error('the file is gone') });
    await playground.stop();
  });

  it('begins only with an installation', async () => {
    const none = begin({ make: () => Promise.reject(new Error('no file')) });
    await expect(none).rejects.toThrow('no file');
  });
});
