import type { Instant } from '../../shared/instant.js';
import type { Job } from '../document/job.js';
import { nextVersion } from './decide-registration.js';

/** The row of a stopped job: a new version, marked as stopped (job interface, stop). */
export function decideStop(current: Job, index: number, now: Instant): Job {
  return { ...nextVersion(current, { index, now }), Stop: true };
}
