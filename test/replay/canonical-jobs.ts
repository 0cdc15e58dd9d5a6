import { canonicaliseJob } from '../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../src/jobs/document/decode-job.js';
import type { Job } from '../../src/jobs/document/job.js';

/** The canonical form of a job as a client would send it, without what an installation adds. */
export function jobOf(document: object): Job {
  return canonicaliseJob(decodeJob(document)._unsafeUnwrap());
}
