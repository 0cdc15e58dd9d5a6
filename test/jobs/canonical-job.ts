import { admitJob } from '../../src/jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../src/jobs/document/decode-job.js';
import type { Job } from '../../src/jobs/document/job.js';

/** A document as a registration in the region `global` stores it; not validated. */
export function canonicalJob(document: unknown): Job {
  return admitJob(canonicaliseJob(decodeJob(document)._unsafeUnwrap()), { region: 'global' })._unsafeUnwrap();
}
