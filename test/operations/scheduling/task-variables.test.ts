import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { agentLink, hostPrincipal } from '../../../src/index.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import { putPolicy } from '../../../src/operations/access/policies.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { putVariable, removeVariable } from '../../../src/operations/variables/write-variable.js';
import type { TaskVariablesQuery } from '../../../src/ports/index.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { second } from '../../../src/shared/duration.js';
import { variables as variableTable } from '../../../src/variables/variable.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { groupDocument } from '../../support/jobs.js';

const nodeId = '00000000-0000-4000-8000-00000000000a';
const never = new AbortController().signal;

async function placed() {
  const cluster = fakeCluster();
  await cluster.addNode(nodeId);
  const { engine, clock } = cluster;
  const job = { ID: 'web', Type: 'service', Datacenters: ['*'], TaskGroups: [groupDocument()] } as JobInput;
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(3 * second);
  const [allocation] = await cluster.rows(allocations);
  const link = agentLink(engine);
  const ask = (change: Partial<TaskVariablesQuery>, signal = never) =>
    link.variables(
      { nodeId, allocationId: allocation?.ID ?? '', task: 'main', variables: [], prefixes: [], known: null, ...change },
      signal,
    );
  const put = (path: string, items: Record<string, string>) => putVariable(engine, hostPrincipal, { path, items });
  return { cluster, engine, ask, put };
}

describe('the variables of a task', () => {
  it('are those of its job, and what policies for its job grant', async () => {
    const { cluster, engine, ask, put } = await placed();
    await using _ended = cluster;
    for (const path of ['nomad/jobs/web', 'nomad/jobs/web/app/main', 'nomad/jobs/db', 'shared/key', 'shared/list']) {
      await put(path, { path });
    }
    const variables = ['nomad/jobs/web', 'nomad/jobs/db', 'shared/key', 'none'].map((path) => ({ path }));
    const prefixes = [{ path: 'nomad/jobs/web' }, { path: '' }];
    const own = (await ask({ variables, prefixes }))._unsafeUnwrap();
    const listed = ['nomad/jobs/web', 'nomad/jobs/web/app/main'].map((path) => ({ path, namespace: 'default' }));
    expect(own).toMatchObject({ items: [{ path: 'nomad/jobs/web' }, null, null, null], lists: [listed, listed] });
    const Rules = 'namespace "default" { variables { path "shared/key" { capabilities = ["read"] } } }';
    const JobACL = { Namespace: 'default', JobID: 'web', Group: '', Task: '' };
    (await putPolicy(engine, hostPrincipal, { name: 'web', rules: Rules, job: JobACL }))._unsafeUnwrap();
    const granted = (await ask({ variables }))._unsafeUnwrap();
    expect(granted.items).toEqual([{ path: 'nomad/jobs/web' }, null, { path: 'shared/key' }, null]);
  });

  it('are listed up to a limit that counts only those that the task may list', async () => {
    const { cluster, engine, ask, put } = await placed();
    await using _ended = cluster;
    await put('nomad/jobs/web', { key: '1' });
    const template = (await engine.storage.read((view) => view.list(variableTable)[0]?.record))._unsafeUnwrap()!;
    const filled = await engine.storage.write((tx) => {
      for (let at = 0; at < 10_500; at += 1)
        tx.put(variableTable, { ...template, Path: `a/${String(at).padStart(5, '0')}` });
      return ok(undefined);
    });
    filled._unsafeUnwrap();
    const { lists } = (await ask({ prefixes: [{ path: '' }] }))._unsafeUnwrap();
    expect(lists).toEqual([[{ path: 'nomad/jobs/web', namespace: 'default' }]]);
  });

  it('are told again when one of them is another, comes or goes, and not when others change', async () => {
    const { cluster, engine, ask, put } = await placed();
    await using _ended = cluster;
    const variables = [{ path: 'nomad/jobs/web' }];
    const nothing = (await ask({ variables }))._unsafeUnwrap();
    let told = 0;
    const wait = async (known: string) => {
      const answer = await ask({ variables, known });
      told += 1;
      return answer._unsafeUnwrap();
    };
    const first = wait(nothing.version);
    await put('nomad/jobs/other', { key: '1' });
    expect(told).toBe(0);
    await put('nomad/jobs/web', { key: '1' });
    const come = await first;
    expect(come.items).toEqual([{ key: '1' }]);
    const second = wait(come.version);
    await removeVariable(engine, hostPrincipal, { path: 'nomad/jobs/web' });
    expect((await second).items).toEqual([null]);
  });

  it('are not told any more when the allocation has ended', async () => {
    const { cluster, engine, ask, put } = await placed();
    await using _ended = cluster;
    await put('nomad/jobs/web', { key: '1' });
    const variables = [{ path: 'nomad/jobs/web' }];
    expect((await ask({ variables }))._unsafeUnwrap().items).toEqual([{ key: '1' }]);
    (await stopJob(engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    await cluster.clock.advance(5 * second);
    expect((await cluster.rows(allocations)).map(({ ClientStatus }) => ClientStatus)).toEqual(['complete']);
    expect((await ask({ variables }))._unsafeUnwrapErr()).toEqual({
      type: 'node_refused',
      message: 'The node has no such task',
    });
  });

  it('end a wait when the asker goes away', async () => {
    const { cluster, ask } = await placed();
    await using _ended = cluster;
    const { version } = (await ask({}))._unsafeUnwrap();
    const controller = new AbortController();
    const waiting = ask({ known: version }, controller.signal);
    controller.abort();
    expect((await waiting)._unsafeUnwrap()).toEqual({ version, items: [], lists: [] });
  });

  it.each([
    ['of another node', { nodeId: 'other' }],
    ['of no allocation', { allocationId: 'none' }],
    ['of a task that the group has not', { task: 'side' }],
    ['of too many at once', { variables: Array.from({ length: 1001 }, (_, at) => ({ path: `p${at}` })) }],
  ])('are refused: %s', async (_what, change) => {
    const { cluster, ask } = await placed();
    await using _ended = cluster;
    expect((await ask(change))._unsafeUnwrapErr().type).toBe('node_refused');
  });
});
