import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { readCurrentAllocations } from '../../../src/operations/records/jobs/job-allocations.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { affectsDecisions } from '../../../src/scheduler/snapshot.js';
import { jobFrom } from '../../support/jobs.js';
import { world } from '../jobs/world.js';

const job = (Type: string, Count = 3) =>
  jobFrom(
    {
      Type,
      TaskGroups: [{ Name: 'app', Count, Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: 'x' } }] }],
    },
    { Version: 4 },
  );

const allocation = (ID: string, more: Partial<Allocation> = {}): Allocation =>
  ({
    ID,
    Namespace: 'default',
    JobID: 'web',
    JobType: 'batch',
    JobVersion: 4,
    JobCreateIndex: 5,
    NodeID: 'n1',
    EvalID: 'e',
    DesiredStatus: 'run',
    ClientStatus: 'complete',
    CreateIndex: 10,
    ModifyIndex: 10,
    ...more,
  }) as Allocation;

/** What is read of the job after all of these have been stored, and how many rows of the table were. */
async function current(stored: readonly Allocation[], type: string, nodes = 1): Promise<string[]> {
  const { engine } = world();
  const written = await engine.storage.write((tx) => {
    for (const each of stored) tx.put(allocations, { ...each, JobType: type });
    return ok(undefined);
  });
  written._unsafeUnwrap();
  const asked = { namespace: 'default', jobId: 'web', job: job(type) };
  return (
    await engine.storage.read((view) => readCurrentAllocations(view, asked, nodes).map(({ ID }) => ID))
  )._unsafeUnwrap();
}

describe('what an evaluation reads of its job', () => {
  it('is everything that a node has not finished with', async () => {
    const open = ['pending', 'running', 'unknown'].flatMap((ClientStatus) =>
      ['run', 'stop', 'evict'].map((DesiredStatus) =>
        allocation(`${ClientStatus} ${DesiredStatus}`, {
          ClientStatus,
          DesiredStatus,
          NextAllocation: 'x',
        } as Partial<Allocation>),
      ),
    );
    expect(await current(open, 'service')).toHaveLength(9);
  });

  it('is what a batch job has completed in this version, all of it', async () => {
    const done = Array.from({ length: 500 }, (_, n) => allocation(`done ${n}`));
    const older = Array.from({ length: 500 }, (_, n) => allocation(`older ${n}`, { JobVersion: 3, CreateIndex: 11 }));
    const failures = Array.from({ length: 500 }, (_, n) =>
      allocation(`failed ${n}`, { ClientStatus: 'failed', CreateIndex: 12 }),
    );
    const read = await current([...done, ...older, ...failures], 'batch');
    expect(read.filter((id) => id.startsWith('done'))).toHaveLength(500);
    expect(read.filter((id) => id.startsWith('older'))).toHaveLength(0);
    expect(read.filter((id) => id.startsWith('failed')).length).toBeLessThan(100);
  });

  it('is not what was replaced, nor services that were stopped', async () => {
    const history = [
      allocation('replaced', { ClientStatus: 'failed', NextAllocation: 'x' }),
      allocation('stopped', { DesiredStatus: 'stop' }),
      allocation('waiting', { ClientStatus: 'failed' }),
    ];
    expect(await current(history, 'service')).toEqual(['waiting']);
  });

  it('is the last one of each node for a job that runs on all of them', async () => {
    const ended = Array.from({ length: 300 }, (_, n) => allocation(`on ${n}`, { NodeID: `n${n}` }));
    const older = Array.from({ length: 5000 }, (_, n) => allocation(`older ${n}`, { JobVersion: 2, CreateIndex: 6 }));
    const read = await current([...ended, ...older], 'sysbatch', 300);
    expect(read.filter((id) => id.startsWith('on'))).toHaveLength(300);
    expect(read.length).toBeLessThan(1000);
  });

  it('is never one that has no say', async () => {
    const stored = [allocation('other registration', { JobCreateIndex: 1 }), allocation('own')];
    expect(await current(stored, 'batch')).toEqual(['own']);
    expect(affectsDecisions(stored[0] as Allocation, job('batch'))).toBe(false);
  });
});
