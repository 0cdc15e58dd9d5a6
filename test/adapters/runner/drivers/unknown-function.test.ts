import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';

const job = (config: object): JobInput => ({
  ID: 'nightly',
  Type: 'batch',
  Datacenters: ['*'],
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'function', Config: config as Record<string, never> }] }],
});

it('is a warning of register, plan and validate while the runner is in this process', async () => {
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  const box = engine.as(hostPrincipal);
  /** What each of the three answers warns of. */
  const warned = async (config: object): Promise<string[]> => {
    const given = job(config);
    const [planned, validated] = await Promise.all([box.jobs.plan('nightly', given), box.jobs.validate(given)]);
    const registered = await box.jobs.register(given);
    return [planned._unsafeUnwrap(), validated._unsafeUnwrap(), registered._unsafeUnwrap()].map(
      ({ warnings }) => warnings,
    );
  };
  const nothing = ['', '', ''];
  expect(await warned({ function: 'reprot' })).toEqual(nothing);

  const runner = createRunner(agentPorts(engine), {
    drivers: [functionDriver({ report: () => null, tidy: () => null })],
  });
  const starting = runner.start();
  await clock.advance(1000);
  (await starting)._unsafeUnwrap();
  const sentence = 'group "g", task "t": no function "reprot" in this process; its runner has "report", "tidy"';
  for (const warning of await warned({ function: 'reprot' })) expect(warning).toContain(sentence);
  for (const warning of await warned({}))
    expect(warning).toContain('task "t": its config names no function in this process');
  expect(await warned({ function: 'report' })).toEqual(nothing);
  expect(await warned({ function: '${meta.which}' })).toEqual(nothing);

  const stopping = runner.stop({ deadline: 0 });
  await clock.advance(60_000);
  await stopping;
  expect(await warned({ function: 'reprot' })).toEqual(nothing);
  const stopped = engine.stop();
  await clock.advance(60_000);
  await stopped;
});
