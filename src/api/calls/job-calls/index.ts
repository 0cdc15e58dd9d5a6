import { dispatchCalls, lifecycleCalls, registrationCalls, scaleCalls } from './changes.js';
import { jobListCalls, jobReadCalls, outlookCalls, versionCalls, versionTagCalls } from './reads.js';

/** Jobs: their documents, versions and instances, and their scheduling state. */
export const jobCalls = {
  ...jobListCalls,
  ...outlookCalls,
  ...registrationCalls,
  ...jobReadCalls,
  ...dispatchCalls,
  ...versionCalls,
  ...lifecycleCalls,
  ...scaleCalls,
  ...versionTagCalls,
} as const;

export { poolJobCalls } from './reads.js';
