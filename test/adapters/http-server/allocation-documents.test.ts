import { okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import type { AllocationUsage, CommandOutput } from '../../../src/agent/link/node-command.js';
import { plainType } from '../../../src/api/answers.js';
import { everything, filledEngine } from './engine-under-test.js';
import { pathValues } from './route-samples.js';

/** Members of stored allocations that only decisions need. */
const own = ['JobType', 'JobVersion', 'JobCreateIndex', 'JobPriority', 'MigrateParallel'];

async function ask(target: (pathValues: Record<string, string>) => string, accept = '*/*'): Promise<unknown> {
  const handler = createHttpHandler(await filledEngine(), everything);
  const response = await handler(requestFrom({ target: target(pathValues), headers: { accept } }));
  return JSON.parse(response.body.toString());
}

const shared = { CPU: 0, Cores: 0, MemoryMB: 0, DiskMB: 300, Networks: null };

describe('a whole allocation', () => {
  it('has the older forms of its resources, and no copies of the job', async () => {
    const shown = await ask(({ allocation_id: id }) => `/v1/allocation/${id}`);
    expect(shown).toMatchObject({
      Job: { ID: 'job' },
      Resources: { CPU: 100, MemoryMB: 300, DiskMB: 300 },
      TaskResources: { t: { CPU: 100, MemoryMB: 300, DiskMB: 0 } },
      SharedResources: shared,
      NetworkStatus: { InterfaceName: '', Address: '', AddressIPv6: '', DNS: null },
    });
    for (const member of own) expect(shown).not.toHaveProperty(member);
  });

  it('is the same in the list of a node', async () => {
    const list = await ask(({ node_id: id }) => `/v1/node/${id}/allocations`);
    expect(list).toContainEqual(expect.objectContaining({ SharedResources: expect.objectContaining(shared) }));
    for (const shown of list as object[]) for (const member of own) expect(shown).not.toHaveProperty(member);
  });

  it('has all its members for clients of this package', async () => {
    const { value } = (await ask(({ allocation_id: id }) => `/v1/allocation/${id}`, plainType)) as { value: object };
    for (const member of ['JobType', 'JobVersion', 'Job', 'SharedResources']) expect(value).toHaveProperty(member);
  });
});

describe('the usage of an allocation', () => {
  it('is told for all tasks, for each, and for each of its processes', async () => {
    const engine = await filledEngine();
    const first = { pid: 7, residentBytes: 4096, userPercent: 1, systemPercent: 2 };
    const second = { pid: 8, residentBytes: 8192, userPercent: 3, systemPercent: 4 };
    const whole = { residentBytes: 12_288, userPercent: 4, systemPercent: 6, processes: [first, second] };
    engine.agents.attach(pathValues['node_id'] ?? '', () =>
      okAsync(only({ tasks: { t: whole }, megahertz: 2000, at: 5 })),
    );
    const target = `/v1/client/allocation/${pathValues['allocation_id']}/stats`;
    const response = await createHttpHandler(engine, everything)(requestFrom({ target }));
    const used = (resident: number, user: number, system: number): unknown =>
      expect.objectContaining({
        MemoryStats: expect.objectContaining({ RSS: resident, Usage: resident }),
        CpuStats: expect.objectContaining({
          UserMode: user,
          SystemMode: system,
          Percent: user + system,
          TotalTicks: (user + system) * 20,
          Measured: ['System Mode', 'User Mode', 'Percent', 'Total Ticks'],
        }),
      });
    const task = {
      ResourceUsage: used(12_288, 4, 6),
      Timestamp: 5_000_000,
      Pids: { 7: used(4096, 1, 2), 8: used(8192, 3, 4) },
    };
    expect(JSON.parse(response.body.toString())).toEqual({
      ResourceUsage: used(12_288, 4, 6),
      Tasks: { t: task },
      Timestamp: 5_000_000,
    });
  });
});

async function* only(value: AllocationUsage): AsyncGenerator<CommandOutput> {
  yield { type: 'value', value };
}
