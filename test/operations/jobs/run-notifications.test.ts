import { afterEach, describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import type { AllocationReport } from '../../../src/agent/link/node-work.js';
import { taskEvent } from '../../../src/agent/task/task-event.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { jobRuns } from '../../../src/jobs/runs/job-run.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { events } from '../../../src/notifications/events/event.js';
import type { RunNotificationRule } from '../../../src/notifications/workspace.js';
import { tokenAuthenticator } from '../../../src/operations/access/tokens/authenticate-token.js';
import { createOneTimeToken } from '../../../src/operations/access/tokens/one-time-token.js';
import { saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import {
  listNotificationEvents,
  showNotificationEvent,
} from '../../../src/operations/notifications/events/events-log.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';
import { allocations, type ClientStatus, type TaskEvent } from '../../../src/scheduler/allocation.js';
import type { SettingsOverrides } from '../../../src/settings.js';
import { nodeFrom } from '../../support/nodes.js';
import { batchJob, group, parameterizedJob, serviceJob, type World, world } from './world.js';

const running: World[] = [];
afterEach(async () => {
  for (const w of running.splice(0)) await w.engine.stop();
});

/** An engine that runs, one ready node, one workspace that hears of every job. */
async function team(
  runNotifications: RunNotificationRule[] = [{ workspace: 'ws-1' }],
  settings: SettingsOverrides = {},
  secrets: readonly string[] = [],
): Promise<World> {
  const w = world({ ...settings, runNotifications }, { secrets });
  running.push(w);
  const workspace = { id: 'ws-1', name: 'net', organization: 'acme' };
  (await putWorkspace(w.engine, hostPrincipal, workspace))._unsafeUnwrap();
  w.engine.start();
  (await registerNode(w.engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  return w;
}

async function heard(w: World): Promise<string[]> {
  const rows = await w.rows(events);
  return rows
    .sort((a, b) => a.sequence - b.sequence)
    .map(({ event }) => (event.kind === 'run' ? `${event.trigger} ${event.runStatus}` : event.kind));
}

const nodeId = '00000000-0000-4000-8000-00000000000a';

const settle = (w: World) => w.clock.advance(1000);

async function report(
  w: World,
  clientStatus: 'running' | 'complete' | 'failed',
  clientDescription = '',
  more: Partial<AllocationReport> = {},
): Promise<void> {
  const open: ClientStatus[] = ['pending', 'running'];
  const [first] = await w.rows(allocations);
  const reports = (await w.rows(allocations))
    .filter((allocation) => open.includes(allocation.ClientStatus))
    .map(({ ID }) => ({
      allocationId: ID,
      clientStatus,
      clientDescription,
      taskStates: { t: taskState(clientStatus) },
      ...more,
    }));
  expect(reports.length).toBeGreaterThan(0);
  (await reportAllocations(w.engine, hostPrincipal, { nodeId: first?.NodeID ?? '', reports }))._unsafeUnwrap();
  await settle(w);
}

function taskState(status: 'running' | 'complete' | 'failed') {
  return {
    State: status === 'running' ? ('running' as const) : ('dead' as const),
    Failed: status === 'failed',
    Restarts: 0,
    LastRestart: null,
    StartedAt: '2026-01-01T00:00:00.000Z',
    FinishedAt: status === 'running' ? null : '2026-01-01T00:00:01.000Z',
    Events: status === 'failed' ? [terminated] : null,
    Paused: '',
  };
}

const terminated = taskEvent({ type: 'ended', exit: { type: 'exited', code: 3, signal: 0 } }, 0) as TaskEvent;

const oneShot = { RestartPolicy: { Attempts: 0, Mode: 'fail' }, ReschedulePolicy: { Attempts: 0, Unlimited: false } };

describe('run notifications', () => {
  it('are found by their job, whose name may contain quotes, and name it among their attributes', async () => {
    const w = await team();
    const quoted = 'say-"hi"';
    for (const id of [quoted, 'b']) await registerJob(w.engine, hostPrincipal, { job: batchJob(id) });
    await settle(w);
    const found = async (filter: string): Promise<readonly string[]> => {
      const request = { workspaceId: 'ws-1', filter };
      const { items } = (await listNotificationEvents(w.engine, hostPrincipal, request))._unsafeUnwrap();
      return items.map(({ id }) => id);
    };
    const [first, ...others] = await found('run_job.namespace == "default" and run_job.id == "say-\\u0022hi\\u0022"');
    expect(others).toHaveLength(1);
    const shown = (await showNotificationEvent(w.engine, hostPrincipal, { eventId: first ?? '' }))._unsafeUnwrap();
    expect(shown.attributes).toMatchObject({ trigger: 'run:planning', run_job: { namespace: 'default', id: quoted } });
    expect(await found('run_job.id == "c"')).toEqual([]);
    expect(await found('run_job.namespace == "other"')).toEqual([]);
  });

  it('tell of an instance from its dispatch to its end', async () => {
    const w = await team();
    await registerJob(w.engine, hostPrincipal, { job: parameterizedJob('p') });
    const caller = { ...hostPrincipal, name: 'dana' };
    const { dispatchedJobId } = (await dispatchJob(w.engine, caller, { jobId: 'p' }))._unsafeUnwrap();
    expect((await heard(w))[0]).toEqual('run:created pending');
    await settle(w);
    expect(await heard(w)).toEqual(['run:created pending', 'run:planning planning']);
    await report(w, 'running');
    await report(w, 'complete');
    expect(await heard(w)).toEqual([
      'run:created pending',
      'run:planning planning',
      'run:applying applying',
      'run:completed applied',
    ]);
    const stored = (await w.rows(events)).map(({ event }) => event);
    expect(new Set(stored.map((event) => event.kind === 'run' && event.runId)).size).toBe(1);
    expect(stored[0]).toMatchObject({
      runCreatedBy: 'dana',
      runUpdatedBy: 'dana',
      runMessage: `Job ${dispatchedJobId}`,
    });
    expect(stored[3]).toMatchObject({ runCreatedBy: 'dana', runUpdatedBy: null });
    expect(await w.rows(jobs)).toMatchObject([{ Status: 'running' }, { Status: 'dead' }]);
    expect(await w.rows(jobSummaries)).toMatchObject([
      { Children: { Pending: 0, Running: 0, Dead: 1 } },
      { Summary: { g: { Queued: 0, Starting: 0, Running: 0, Complete: 1 } } },
    ]);
  });

  it('tell of a quick one that nobody saw running', async () => {
    const w = await team();
    await registerJob(w.engine, hostPrincipal, { job: batchJob('b') });
    await settle(w);
    await report(w, 'complete');
    expect(await heard(w)).toEqual([
      'run:created pending',
      'run:planning planning',
      'run:applying applying',
      'run:completed applied',
    ]);
  });

  it('tell of one that was ended by its longest run as errored', async () => {
    const w = await team();
    await registerJob(w.engine, hostPrincipal, { job: batchJob('b') });
    await settle(w);
    await report(w, 'running');
    await report(w, 'complete', 'Allocation exceeded its maximum run duration');
    expect((await heard(w)).at(-1)).toBe('run:errored errored');
    const told = (await w.rows(events)).find(({ trigger }) => trigger === 'run:errored')?.event;
    expect(told?.kind === 'run' && told.failure).toMatchObject({
      group: 'g',
      message: 'Allocation exceeded its maximum run duration',
    });
  });

  it('tell of a failure once', async () => {
    const w = await team();
    await registerJob(w.engine, hostPrincipal, { job: batchJob('b', { TaskGroups: [group(oneShot)] }) });
    await settle(w);
    await report(w, 'failed');
    expect((await heard(w)).at(-1)).toBe('run:errored errored');
    const told = (await w.rows(events)).find(({ trigger }) => trigger === 'run:errored')?.event;
    expect(told?.kind === 'run' && told.failure).toMatchObject({
      group: 'g',
      task: 't',
      exitCode: 3,
      message: 'Exit Code: 3',
    });
    expect(told?.kind === 'run' && told.job).toEqual({
      namespace: 'default',
      id: 'b',
      outcome: { name: 'failed', text: 'failed' },
    });
    await settle(w);
    expect((await heard(w)).filter((event) => event.startsWith('run:errored'))).toHaveLength(1);
    expect(await w.rows(jobs)).toMatchObject([{ Status: 'dead' }]);
  });

  it('link to what is there: nothing as it is, the page of the run and the log where these are known', async () => {
    const publicOrigin = 'https://jobs.example.net';
    for (const [settings, runUrl, outputUrl] of [
      [{}, null, undefined],
      [
        { notifications: { publicOrigin } },
        null,
        /^https:\/\/jobs.example.net\/v1\/client\/fs\/logs\/[0-9a-f-]{36}\?task=t/,
      ],
      [{ jobs: { runUrl: 'https://ci.example.net/{job}/{id}' } }, /^https:\/\/ci.example.net\/b\/run-\w+$/, undefined],
    ] as const) {
      const w = await team(undefined, settings);
      await registerJob(w.engine, hostPrincipal, { job: batchJob('b', { TaskGroups: [group(oneShot)] }) });
      await settle(w);
      await report(w, 'failed');
      const told = (await w.rows(events)).find(({ trigger }) => trigger === 'run:errored')?.event;
      if (told?.kind !== 'run') throw new Error('no event');
      const matching = (form: RegExp | null | undefined) => (form ? expect.stringMatching(form) : form);
      expect([told.runUrl, told.failure?.outputUrl]).toEqual([matching(runUrl), matching(outputUrl)]);
    }
  });

  it('quote the last output of what failed or took too long', async () => {
    for (const [status, description, outcome] of [
      ['failed', 'Failed tasks', 'failed'],
      ['complete', 'Allocation exceeded its maximum run duration', 'timed_out'],
    ] as const) {
      const w = await team();
      await registerJob(w.engine, hostPrincipal, { job: batchJob('b', { TaskGroups: [group(oneShot)] }) });
      await settle(w);
      const output = { task: 't', text: 'reading\nENOENT: no such file' };
      await report(w, status, description, { output });
      const told = (await w.rows(events)).find(({ trigger }) => trigger === 'run:errored')?.event;
      expect(told?.kind === 'run' && [told.job?.outcome?.name, told.failure?.task, told.failure?.output]).toEqual([
        outcome,
        't',
        'reading\nENOENT: no such file',
      ]);
      const [shown] = (await w.engine.as(hostPrincipal).jobs.allocations('b'))._unsafeUnwrap().value;
      expect(JSON.stringify(shown)).not.toContain('ENOENT');
    }
  });

  it('quote no secret of the server: tokens of callers and agents, and what is sent to destinations of the workspace', async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const w = await team(undefined, {}, [key, 'smtp://alerts:pass%2Fof-mail@mail.example.net']);
    const made = (await saveToken(w.engine, hostPrincipal, { name: 'ada', type: 'management' }))._unsafeUnwrap();
    const agent = (await saveToken(w.engine, hostPrincipal, { name: 'n', type: 'node', nodeId }))._unsafeUnwrap();
    const holder = (await tokenAuthenticator(w.engine)(made.SecretID))._unsafeUnwrap();
    if (holder === undefined) throw new Error('the token is not known');
    const oneTime = (await createOneTimeToken(w.engine, holder))._unsafeUnwrap();
    const session = (await w.engine.host.sessions.create({ token: made.SecretID }))._unsafeUnwrap();
    const hidden = {
      caller: made.SecretID,
      agent: agent.SecretID,
      oneTime: oneTime.value.OneTimeSecretID,
      session: session.secret,
      key,
      mail: 'pass/of-mail',
      signing: 'signing-token-of-the-team',
      url: 'path-of-the-hook-of-the-team',
      header: 'header-value-of-the-team',
      password: 'pass-word-of-the-team',
    };
    const attributes = {
      destinationType: 'generic' as const,
      name: 'hook',
      enabled: false,
      url: `https://hooks.example.net/services/${hidden.url}`,
      token: hidden.signing,
      triggers: ['run:errored'],
      delivery: {
        headers: { 'x-key': hidden.header },
        authentication: { type: 'basic' as const, username: 'signalbox', password: hidden.password },
      },
    };
    (
      await createNotificationConfiguration(w.engine, hostPrincipal, { workspaceId: 'ws-1', attributes })
    )._unsafeUnwrap();
    await registerJob(w.engine, hostPrincipal, { job: batchJob('b', { TaskGroups: [group(oneShot)] }) });
    await settle(w);
    const text = Object.entries(hidden).flatMap(([name, secret]) => [
      `${name}=${secret}`,
      `${name}: "${secret}",`,
      `Bearer ${secret}`,
      `/var/${name}-${secret}/x`,
      `https://x.example.net/?${name}=${encodeURIComponent(secret)}&a=b`,
    ]);
    const output = { task: 't', text: ['kept', nodeId, ...text, 'end'].join('\n') };
    await report(w, 'failed', '', { output });
    const told = (await w.rows(events)).find(({ trigger }) => trigger === 'run:errored')?.event;
    const shown = (told?.kind === 'run' ? told.failure?.output : '') ?? '';
    for (const [name, secret] of Object.entries(hidden)) {
      expect(shown, name).not.toContain(secret);
      expect(shown).toContain(`${name}=[redacted]`);
    }
    expect(shown.split('\n').slice(0, 2)).toEqual(['kept', nodeId]);
    expect(shown).toMatch(/\nend$/);
    expect(JSON.stringify(await w.rows(allocations))).not.toContain(hidden.signing);
  });

  it('do not call a failure what is tried again and then ends well', async () => {
    const w = await team();
    const again = { ReschedulePolicy: { Attempts: 1, Interval: 60e9 * 60, Delay: 5e9, DelayFunction: 'constant' } };
    await registerJob(w.engine, hostPrincipal, { job: batchJob('b', { TaskGroups: [group(again)] }) });
    await settle(w);
    await report(w, 'failed');
    await w.clock.advance(20_000);
    await registerNode(w.engine, hostPrincipal, nodeFrom('n1'));
    expect((await w.rows(allocations)).length).toBe(2);
    await report(w, 'complete');
    expect(await heard(w)).toEqual([
      'run:created pending',
      'run:planning planning',
      'run:applying applying',
      'run:completed applied',
    ]);
  });

  it('tell that a version is up, that it failed later, and that the next one is a run of its own', async () => {
    const w = await team();
    const job = (Priority: number) => serviceJob('web', { Priority, TaskGroups: [group({ Count: 2, ...oneShot })] });
    await registerJob(w.engine, hostPrincipal, { job: job(50) });
    await settle(w);
    await report(w, 'running');
    expect((await heard(w)).at(-1)).toBe('run:completed applied');
    await report(w, 'failed');
    expect(await heard(w)).toEqual([
      'run:created pending',
      'run:planning planning',
      'run:applying applying',
      'run:completed applied',
      'run:errored errored',
    ]);
    await registerJob(w.engine, hostPrincipal, { job: job(60) });
    expect((await heard(w))[5]).toEqual('run:created pending');
    expect(await w.rows(jobRuns)).toMatchObject([{ version: 1 }]);
  });

  it('tell of one that is stopped or replaced early', async () => {
    const w = await team();
    await registerJob(w.engine, hostPrincipal, { job: serviceJob('web') });
    await settle(w);
    await registerJob(w.engine, hostPrincipal, { job: serviceJob('web', { Meta: { a: '1' } }) });
    expect((await heard(w)).slice(0, 4)).toEqual([
      'run:created pending',
      'run:planning planning',
      'run:errored canceled',
      'run:created pending',
    ]);
    await stopJob(w.engine, { ...hostPrincipal, name: 'dana' }, { jobId: 'web' });
    expect((await heard(w)).at(-1)).toBe('run:errored canceled');
    expect(await w.rows(jobRuns)).toEqual([]);
  });

  it('say nothing without a rule, and do not fail for a workspace that is not there', async () => {
    for (const rules of [[], [{ workspace: 'ws-1', job: 'other' }], [{ workspace: 'nowhere' }]]) {
      const w = await team(rules);
      expect((await registerJob(w.engine, hostPrincipal, { job: batchJob('b') })).isOk()).toBe(true);
      await settle(w);
      await report(w, 'complete');
      expect(await heard(w)).toEqual([]);
    }
  });
});
