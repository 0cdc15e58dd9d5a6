import { unixNanosFromInstant, type WriteMoment } from '../../shared/instant.js';
import type { Job } from '../document/job.js';

/** The row of one more version of a job that is not registered by a document, as for a stop: neither stable nor tagged. */
export function nextVersion(current: Job, { index, now }: WriteMoment): Job {
  return {
    ...current,
    Stable: false,
    VersionTag: null,
    Version: current.Version + 1,
    SubmitTime: unixNanosFromInstant(now),
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}
