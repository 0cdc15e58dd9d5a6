import type { Instant } from '../../shared/instant.js';
import type { Job } from '../document/job.js';
import { nextVersion } from './next-version.js';

/** The row of a job that is stopped and kept: one more version, marked as stopped (job interface, stop). */
export function decideStop(current: Job, index: number, now: Instant): Job {
  return { ...nextVersion(current, { index, now }), Stop: true };
}
