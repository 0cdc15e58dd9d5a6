import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { hostPrincipal } from '../../../src/index.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { groupDocument } from '../../support/jobs.js';

/** Members of a kind of record that are always printed; the others are absent when they are empty (job interface). */
const always: Readonly<Record<string, readonly string[]>> = {
  evaluation: [],
  allocation: ['DesiredTransition'],
};

/** All members that the two kinds of records can have. */
const known: Readonly<Record<string, readonly string[]>> = {
  evaluation: [
    ...['ID', 'Namespace', 'Priority', 'Type', 'TriggeredBy', 'JobID', 'JobModifyIndex', 'NodeID', 'NodeModifyIndex'],
    ...['DeploymentID', 'Status', 'StatusDescription', 'Wait', 'WaitUntil', 'NextEval', 'PreviousEval', 'BlockedEval'],
    ...['RelatedEvals', 'FailedTGAllocs', 'PlanAnnotations', 'ClassEligibility', 'QuotaLimitReached'],
    ...['MissingNonNodeResources', 'EscapedComputedClass', 'AnnotatePlan', 'QueuedAllocations', 'SnapshotIndex'],
    ...['CreateIndex', 'ModifyIndex', 'CreateTime', 'ModifyTime'],
  ],
  allocation: [
    ...['ID', 'Namespace', 'EvalID', 'Name', 'NodeID', 'NodeName', 'JobID', 'Job', 'TaskGroup', 'Resources'],
    ...['SharedResources', 'TaskResources', 'AllocatedResources', 'Metrics', 'DesiredStatus', 'DesiredDescription'],
    ...['DesiredTransition', 'ClientStatus', 'ClientDescription', 'TaskStates', 'AllocStates', 'PreviousAllocation'],
    ...['NextAllocation', 'DeploymentID', 'DeploymentStatus', 'RescheduleTracker', 'NetworkStatus', 'FollowupEvalID'],
    ...['PreemptedAllocations', 'PreemptedByAllocation', 'SigningKeyID', 'CreateIndex', 'ModifyIndex'],
    ...['AllocModifyIndex', 'CreateTime', 'ModifyTime'],
    'Outcome',
  ],
};

function isEmpty(value: unknown): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** What a record shows that it should not. */
function faultsOf(kind: 'evaluation' | 'allocation', record: Record<string, unknown>): string[] {
  return Object.entries(record).flatMap(([member, value]) => {
    if (known[kind]?.includes(member) !== true) return [`${kind}: ${member} is unknown`];
    return isEmpty(value) && always[kind]?.includes(member) !== true
      ? [`${kind} ${String(record['TriggeredBy'] ?? record['ClientStatus'])}: ${member} is ${JSON.stringify(value)}`]
      : [];
  });
}

async function ask(cluster: FakeCluster, target: string): Promise<unknown> {
  const handler = createHttpHandler(cluster.engine, { access: 'open' });
  const response = await handler(requestFrom({ target }));
  expect(response.status, target).toBe(200);
  let text = '';
  if (typeof response.body === 'string' || response.body instanceof Uint8Array) text = response.body.toString();
  else for await (const part of response.body) text += part.toString();
  return JSON.parse(text);
}

type Record_ = Record<string, unknown>;

describe('optional members of evaluations and allocations', () => {
  it('are absent while they are empty, whatever became of the job', async () => {
    await using cluster = fakeCluster({
      behaviour: ({ JobID, RescheduleTracker }) =>
        JobID === 'failing' ? { ends: 'failed' } : JobID === 'once' && !RescheduleTracker ? { ends: 'complete' } : {},
    });
    const { engine, clock } = cluster;
    await cluster.addNode('n1');
    await cluster.addNode('n2');
    const register = async (job: JobInput): Promise<void> => {
      (await registerJob(engine, hostPrincipal, { job: { Datacenters: ['*'], ...job } }))._unsafeUnwrap();
      await clock.advance(2 * second);
    };
    const policy = {
      Attempts: 1,
      Interval: 86_400e9,
      Delay: 5e9,
      DelayFunction: 'constant' as const,
      Unlimited: false,
    };
    const restart = { RestartPolicy: { Attempts: 0, Mode: 'fail' as const } };
    await register({ ID: 'web', Type: 'service', TaskGroups: [groupDocument({ Update: { MaxParallel: 1 } })] });
    await register({ ID: 'web', Type: 'service', Priority: 60, TaskGroups: [groupDocument({ Count: 2 })] });
    await register({ ID: 'once', Type: 'batch', TaskGroups: [groupDocument()] });
    await register({
      ID: 'failing',
      Type: 'batch',
      TaskGroups: [groupDocument({ ReschedulePolicy: policy, ...restart })],
    });
    await register({
      ID: 'huge',
      Type: 'batch',
      TaskGroups: [groupDocument({}, { Resources: { CPU: 900_000, MemoryMB: 10 } })],
    });
    await register({ ID: 'parent', Type: 'batch', ParameterizedJob: {}, TaskGroups: [groupDocument()] });
    (await dispatchJob(engine, hostPrincipal, { jobId: 'parent' }))._unsafeUnwrap();
    await clock.advance(10 * second);
    cluster.silence('n2');
    await clock.advance(120 * second);
    (await stopJob(engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    await clock.advance(5 * second);

    const evaluations = (await ask(cluster, '/v1/evaluations')) as Record_[];
    const stubs = (await ask(cluster, '/v1/allocations')) as Record_[];
    const single = await Promise.all(evaluations.map(({ ID }) => ask(cluster, `/v1/evaluation/${String(ID)}`)));
    const whole = await Promise.all(stubs.map(({ ID }) => ask(cluster, `/v1/allocation/${String(ID)}`)));
    const faults = [
      ...[...evaluations, ...(single as Record_[])].flatMap((record) => faultsOf('evaluation', record)),
      ...(whole as Record_[]).flatMap((record) => faultsOf('allocation', record)),
    ];
    expect([...new Set(faults)]).toEqual([]);
    // What came about: otherwise nothing was looked at.
    const of = (records: readonly unknown[], member: string): unknown[] => [
      ...new Set(records.map((record) => (record as Record_)[member])),
    ];
    expect(of(evaluations, 'Status')).toEqual(expect.arrayContaining(['blocked', 'complete']));
    expect(of(evaluations, 'TriggeredBy')).toEqual(
      expect.arrayContaining(['job-register', 'job-deregister', 'alloc-reschedule', 'node-update']),
    );
    expect(of(whole, 'ClientStatus')).toEqual(expect.arrayContaining(['complete', 'failed', 'lost']));
    // As existing servers show it: the replacement tells how it came about, and what it replaced keeps what it had.
    const failing = (whole as Record_[]).filter((one) => one['JobID'] === 'failing');
    const replaced = failing.find((one) => 'NextAllocation' in one);
    const replacement = failing.find((one) => one['ID'] === replaced?.['NextAllocation']);
    expect(replaced).not.toHaveProperty('RescheduleTracker');
    expect(replacement?.['RescheduleTracker']).toMatchObject({
      Events: [{ PrevAllocID: replaced?.['ID'] }],
      LastReschedule: 'ok',
    });
  });
});
