import { unixNanosFromInstant, type WriteStamp } from '../../shared/instant.js';
import type { Job } from '../document/job.js';

/** A new version without a registered document, for example for a stop: neither stable nor tagged. */
export function nextVersion(current: Job, { index, now }: WriteStamp): Job {
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
