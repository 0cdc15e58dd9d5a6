import { canonicaliseJob } from '../../src/jobs/document/canonicalise-job.js';
import { decodeJob } from '../../src/jobs/document/decode-job.js';
import type { Job } from '../../src/jobs/document/job.js';

/** The stored form of a document; not validated. */
export function canonicalJob(document: object): Job {
  return canonicaliseJob(decodeJob(document)._unsafeUnwrap(), { region: 'global' });
}
