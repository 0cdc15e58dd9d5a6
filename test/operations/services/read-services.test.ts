import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { type Engine, hostPrincipal } from '../../../src/index.js';
import { listServices, readService } from '../../../src/operations/services/read-services.js';
import { type ServiceRegistration, serviceRegistrations } from '../../../src/services/service-registration.js';
import { world } from '../jobs/world.js';

const registration = (ID: string, ServiceName: string, Tags: readonly string[]): ServiceRegistration => ({
  ID,
  ServiceName,
  Namespace: 'default',
  NodeID: 'node',
  Datacenter: 'dc1',
  JobID: 'job',
  AllocID: `of-${ID}`,
  Tags,
  Address: '127.0.0.1',
  Port: 8080,
  CreateIndex: 2,
  ModifyIndex: 2,
});

/** Four instances of `web`, those with an odd number with the tag `odd`, and one of `api`. */
async function catalogue(): Promise<Engine> {
  const { engine } = world();
  await engine.storage.write((view) => {
    for (const n of [1, 2, 3, 4]) {
      view.put(serviceRegistrations, registration(`w${n}`, 'web', n % 2 === 1 ? ['odd'] : []));
    }
    view.put(serviceRegistrations, registration('a1', 'api', ['odd', 'even']));
    return ok(undefined);
  });
  return engine;
}

type Input = Omit<Parameters<typeof readService>[2], 'name'>;

describe('the instances of a service', () => {
  const read = async (input: Input) => {
    const answer = await readService(await catalogue(), hostPrincipal, { name: 'web', ...input });
    const { items, nextToken } = answer._unsafeUnwrap().value;
    return [items.map(({ ID }) => ID), nextToken];
  };

  it.each<[Input, readonly string[], string]>([
    [{}, ['w1', 'w2', 'w3', 'w4'], ''],
    [{ perPage: 3 }, ['w1', 'w2', 'w3'], 'default.w4'],
    [{ perPage: 3, nextToken: 'default.w4' }, ['w4'], ''],
    [{ perPage: 4 }, ['w1', 'w2', 'w3', 'w4'], ''],
    [{ nextToken: 'default.w2x' }, ['w3', 'w4'], ''],
    [{ nextToken: 'z' }, [], ''],
    [{ perPage: -1 }, ['w1', 'w2', 'w3', 'w4'], ''],
    [{ filter: 'Tags contains odd', perPage: 1 }, ['w1'], 'default.w3'],
    [{ filter: 'Tags contains odd', perPage: 1, nextToken: 'default.w2' }, ['w3'], ''],
    [{ perPage: 1, choose: '3|key' }, ['w1'], 'default.w2'],
    [{ choose: '0|key' }, [], ''],
    [{ name: 'none' } as Input, [], ''],
  ])('asked for with %j are %j, and the next page begins at %j', async (input, ids, next) => {
    expect(await read(input)).toEqual([ids, next]);
  });

  it('are chosen in the same way for the same key', async () => {
    const [two] = await read({ choose: '2|key' });
    expect(two).toHaveLength(2);
    expect(await read({ choose: '02|key' })).toEqual([two, '']);
    expect((await read({ choose: '+9|key' }))[0]).toHaveLength(4);
  });

  it.each(['1', '1|', '|key', 'x|key', '-1|key', '1.5|key'])('are not chosen by %s', async (choose) => {
    const refused = await readService(await catalogue(), hostPrincipal, { name: 'web', choose });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_request', field: 'choose' });
  });
});

it('lists of services have the tags of the registrations that a filter takes', async () => {
  const engine = await catalogue();
  const services = async (filter: string) => {
    const listed = await listServices(engine, hostPrincipal, { filter });
    return listed._unsafeUnwrap().value.flatMap(({ Services }) => Services);
  };
  expect(await services('')).toEqual([
    { ServiceName: 'api', Tags: ['even', 'odd'] },
    { ServiceName: 'web', Tags: ['odd'] },
  ]);
  expect(await services('ServiceName == web')).toEqual([{ ServiceName: 'web', Tags: ['odd'] }]);
  const refused = await listServices(engine, hostPrincipal, { filter: 'Nothing == 1' });
  expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'filter_evaluation' });
});
