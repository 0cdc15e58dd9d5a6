import { errAsync, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine } from '../../../../src/index.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';
import { nodes } from '../../../../src/scheduler/node.js';
import { second } from '../../../../src/shared/duration.js';
import { settled } from '../../../support/settled.js';
import { afterwards, endVirtualRunners } from './virtual-runner.js';

endVirtualRunners();

/** Heartbeats are answered as if the node were not known, and the registration that follows reaches the server when `until` resolves. */
function withLateRenewal(link: AgentLink, until: Promise<void>, calls: string[]): AgentLink {
  let registrations = 0;
  return {
    ...link,
    heartbeat: (nodeId) => errAsync({ type: 'node_not_found', nodeId }),
    register(node, agent) {
      registrations += 1;
      calls.push(`register ${registrations}`);
      if (registrations === 1) return link.register(node, agent);
      return ResultAsync.fromSafePromise(until).andThen(() => link.register(node, agent));
    },
    leave(nodeId, instance) {
      calls.push('leave');
      return link.leave(nodeId, instance);
    },
  };
}

it('a runner that is stopped while it registers again leaves after that', async () => {
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  afterwards(async () => {
    await engine.stop();
  });
  const calls: string[] = [];
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const ports = agentPorts(engine);
  const link = withLateRenewal(ports.link, arrived, calls);
  const runner = createRunner({ ...ports, link }, { drivers: [functionDriver({})] });
  (await runner.start())._unsafeUnwrap();
  for (let passed = 0; calls.length < 2 && passed < 60; passed += 1) await clock.advance(second);
  const stopped = runner.stop({ deadline: 0 });
  await settled();
  arrive();
  await stopped;
  await settled();
  expect(calls).toEqual(['register 1', 'register 2', 'leave']);
  const read = await engine.storage.read((view) => view.list(nodes).map(({ record }) => record.Status));
  expect(read._unsafeUnwrap()).toEqual(['down']);
});
