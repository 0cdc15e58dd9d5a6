import { expect, it } from 'vitest';
import { type Capability, hostPrincipal, type Principal } from '../../../../src/index.js';
import { listJobs } from '../../../../src/operations/jobs/reading/list-jobs.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { serviceJob, world } from '../world.js';

/* A filter is asked of the stored job. Who may list jobs and not read them must not learn by it what the list does not show. */

const callerWith = (rights: Readonly<Record<string, readonly Capability[]>>): Principal => ({
  accessor: 'a',
  name: 'a',
  management: false,
  namespaces: Object.fromEntries(Object.entries(rights).map(([name, capabilities]) => [name, { capabilities }])),
  workspaces: {},
});
const lister = callerWith({ default: ['list-jobs'] });
const reader = callerWith({ default: ['list-jobs', 'read-job'] });

async function engineWithJob() {
  const { engine } = world();
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: 'true' }, Env: { PASSWORD: 'sesame' } };
  const secretive = serviceJob('web', { Meta: { team: 'ops' }, TaskGroups: [{ Name: 'g', Tasks: [task] }] });
  (await registerJob(engine, hostPrincipal, { job: secretive }))._unsafeUnwrap();
  return engine;
}

const namesFor = async (caller: Principal, filter: string, namespace = 'default') => {
  const answer = await listJobs(await engineWithJob(), caller, { namespace, filter });
  return answer._unsafeUnwrap().value.items.map(({ record }) => record.ID);
};

it.each([
  'any TaskGroups as group { any group.Tasks as task { task.Env.PASSWORD matches "^se" } }',
  'TaskGroups is not empty',
  'Payload is empty and TaskGroups is not empty',
])('finds nothing by what only a reader may see: %s', async (filter) => {
  expect(await namesFor(reader, filter)).toEqual(['web']);
  expect(await namesFor(reader, filter, '*')).toEqual(['web']);
  expect(await namesFor(lister, filter)).toEqual([]);
  expect(await namesFor(lister, filter, '*')).toEqual([]);
});

it.each(['Meta.team == "ops"', 'Type == "service" and Periodic is nil', 'ID matches "^w"'])(
  'finds by what the list shows: %s',
  async (filter) => {
    expect(await namesFor(lister, filter)).toEqual(['web']);
    expect(await namesFor(lister, filter, '*')).toEqual(['web']);
  },
);

it('does not share its answer between waiting listers and readers', async () => {
  const engine = await engineWithJob();
  const filter = 'TaskGroups is not empty';
  const index = (await listJobs(engine, reader, { filter }))._unsafeUnwrap().index;
  const waiting = { after: index, wait: 600_000 };
  const forReader = listJobs(engine, reader, { filter, waiting });
  const forLister = listJobs(engine, lister, { filter, waiting });
  await engine.storage.read(() => undefined);
  (await registerJob(engine, hostPrincipal, { job: serviceJob('api') }))._unsafeUnwrap();
  expect((await forReader)._unsafeUnwrap().value.items).toHaveLength(2);
  expect((await forLister)._unsafeUnwrap().value.items).toEqual([]);
});
