import { afterEach, describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import type { Logger } from '../../../src/ports/logger.js';
import { nodeFrom } from '../../support/nodes.js';
import { batchJob, group, type World, world } from '../jobs/world.js';

const running: World[] = [];
afterEach(async () => {
  for (const w of running.splice(0)) await w.engine.stop();
});

type Logged = Readonly<Record<string, unknown>>;

function logged(): World & { readonly warnings: Logged[] } {
  const warnings: Logged[] = [];
  const quiet = (): void => undefined;
  const warn: Logger['warn'] = (fields, message) => warnings.push({ message, ...fields });
  const w = world({}, { logger: { debug: quiet, info: quiet, error: quiet, warn } });
  running.push(w);
  return { ...w, warnings };
}

const register = async (w: World, job: JobInput) =>
  (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
const wants = (task: object) =>
  batchJob('b', {
    TaskGroups: [group({ Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' }, ...task }] })],
  });

describe('a job that waits for room', () => {
  it.each<[string, JobInput, RegExp]>([
    [
      'a driver',
      wants({ Driver: 'docker', Config: { image: 'x' } }),
      /^group "g": missing drivers "docker" \(1 node\)$/,
    ],
    ['a resource', wants({ Resources: { CPU: 1_000_000, MemoryMB: 10 } }), /^group "g": cpu exhausted on 1 node$/],
    [
      'a constraint',
      batchJob('b', { Constraints: [{ LTarget: '${attr.kernel.name}', RTarget: 'plan9', Operand: '=' }] }),
      /kernel\.name.*plan9.*\(1 node\)$/,
    ],
  ])('is one warning after ten seconds, with its reason: %s', async (_name, job, reason) => {
    const w = logged();
    w.engine.start();
    (await registerNode(w.engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
    await register(w, job);
    await w.clock.advance(9_000);
    expect(w.warnings).toEqual([]);
    await w.clock.advance(2_000);
    expect(w.warnings).toEqual([
      {
        message: 'A job waits for room',
        namespace: 'default',
        job: 'b',
        evaluation: expect.any(String),
        reason: expect.stringMatching(reason),
      },
    ]);
    await w.clock.advance(600_000);
    (await registerNode(w.engine, hostPrincipal, nodeFrom('n2')))._unsafeUnwrap();
    await w.clock.advance(60_000);
    expect(w.warnings).toHaveLength(1);
  });

  it('is a warning for want of nodes, also of an engine that begins later', async () => {
    const w = logged();
    await register(w, batchJob('b'));
    w.engine.start();
    await w.clock.advance(11_000);
    expect(w.warnings).toMatchObject([
      { reason: 'group "g": no ready node in the pool "default" and the datacenters of the job' },
    ]);
    await w.engine.stop();
    w.engine.start();
    await w.clock.advance(11_000);
    expect(w.warnings).toHaveLength(2);
  });

  it('is none when it found room before', async () => {
    const w = logged();
    w.engine.start();
    await register(w, batchJob('b'));
    await w.clock.advance(5_000);
    (await registerNode(w.engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
    await w.clock.advance(20_000);
    expect(w.warnings).toEqual([]);
  });
});
