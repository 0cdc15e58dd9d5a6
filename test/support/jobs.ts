import { admitJob } from '../../src/jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../src/jobs/document/decode-job.js';
import type { Job } from '../../src/jobs/document/job.js';

/** A stored job, created from a submitted document like in a registration. */
export function jobFrom(document: Record<string, unknown>, stored: Partial<Job> = {}): Job {
  const decoded = decodeJob({ ID: 'web', Datacenters: ['*'], TaskGroups: [groupDocument()], ...document });
  if (decoded.isErr()) throw new Error(JSON.stringify(decoded.error));
  return {
    ...admitJob(canonicaliseJob(decoded.value), { region: 'global' })._unsafeUnwrap(),
    CreateIndex: 5,
    ModifyIndex: 5,
    JobModifyIndex: 5,
    ...stored,
  };
}

/** One group `app` with one task `main` that needs few resources. */
export function groupDocument(
  group: Record<string, unknown> = {},
  task: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    Name: 'app',
    Count: 1,
    EphemeralDisk: { SizeMB: 10 },
    Tasks: [
      {
        Name: 'main',
        Driver: 'raw_exec',
        Config: { command: '/bin/true' },
        Resources: { CPU: 100, MemoryMB: 100 },
        LogConfig: { MaxFiles: 2, MaxFileSizeMB: 1 },
        ...task,
      },
    ],
    ...group,
  };
}
