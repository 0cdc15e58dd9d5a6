import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/http-server/index.js';
import { plainType } from '../../../src/api/plain-type.js';
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
