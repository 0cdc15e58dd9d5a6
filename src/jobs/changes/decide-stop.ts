import { type Instant, unixNanosFromInstant } from '../../shared/instant.js';
import type { Job } from '../document/job.js';

/** The row of a job that is stopped and kept: one more version, marked as stopped (job interface, stop). */
export function decideStop(current: Job, index: number, now: Instant): Job {
  return {
    ...current,
    Stop: true,
    Stable: false,
    // A tag names one version: that of the document, not this one.
    VersionTag: null,
    Version: current.Version + 1,
    SubmitTime: unixNanosFromInstant(now),
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}
