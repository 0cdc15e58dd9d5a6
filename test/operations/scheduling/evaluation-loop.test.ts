import { expect, it } from 'vitest';
import { flaky, manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal, registerJob, registerNode } from '../../../src/index.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { hour, second } from '../../../src/shared/duration.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const failure = { type: 'storage_failed', reason: 'io', message: 'The disk does not answer.' } as const;

it('waits for a store that fails, for as long as it takes, and gives no evaluation up for it', async () => {
  let failing = false;
  const storage = flaky(memoryStorage(), { write: { calls: () => failing, error: failure as never } });
  const clock = manualClock();
  await using engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery() });
  await registerNode(engine, hostPrincipal, nodeFrom('n1'));
  const job = { ID: 'web', Datacenters: ['*'], TaskGroups: [groupDocument()] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  failing = true;
  engine.start();
  await clock.advance(250);
  await clock.advance(60_000);
  failing = false;
  await clock.advance(1000);
  const stored = await storage.read((view) => view.list(evaluations).map(({ record }) => record.Status));
  expect(stored._unsafeUnwrap()).toEqual(['complete']);
});

it('tells a store that fails once, and again when it fails after a success', async () => {
  let allowed = 0;
  const storage = flaky(memoryStorage(), { write: { calls: () => allowed-- <= 0, error: failure as never } });
  const clock = manualClock();
  const logged: unknown[] = [];
  const note = (level: string) => (fields: object, message: string) => void logged.push([level, message, fields]);
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  await using engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery(), logger });
  engine.start();
  const told = () => logged.filter((entry) => JSON.stringify(entry).includes('Evaluations wait'));
  for (let second = 0; second < 60; second += 1) await clock.advance(1000);
  expect(told()).toEqual([['error', 'Evaluations wait: the store fails', { error: failure.message }]]);
  allowed = Number.POSITIVE_INFINITY;
  await clock.advance(1000);
  expect(told()).toHaveLength(1);
  allowed = 1;
  await registerNode(engine, hostPrincipal, nodeFrom('n1'));
  await clock.advance(5000);
  expect(told()).toHaveLength(2);
});

it.each([
  ['while the engine works', false],
  ['while no engine works', true],
])('keeps the delays of reschedules when the clock is set back %s', async (_when, restarted) => {
  await using cluster = fakeCluster({
    behaviour: ({ RescheduleTracker }) => (RescheduleTracker ? {} : { ends: 'failed' }),
  });
  const { engine, clock } = cluster;
  await cluster.addNode('n1');
  const policy = { Delay: 30e9, DelayFunction: 'constant' as const, MaxDelay: 0, Unlimited: true };
  const group = { ...groupDocument({ ReschedulePolicy: policy, RestartPolicy: { Attempts: 0, Mode: 'fail' } }) };
  const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], TaskGroups: [group] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(5 * second);
  const waiting = async () =>
    (await cluster.rows(evaluations)).filter(({ WaitUntil, Status }) => WaitUntil && Status === 'pending');
  expect(await waiting()).toHaveLength(1);
  if (restarted) await engine.stop();
  await clock.step(-hour);
  if (restarted) engine.start();
  await clock.advance(20 * second);
  expect(await waiting()).toHaveLength(1);
  await clock.advance(20 * second);
  expect(await waiting()).toEqual([]);
  const statuses = (await cluster.rows(allocations)).map(({ ClientStatus }) => ClientStatus);
  expect(statuses.sort()).toEqual(['failed', 'running']);
});
