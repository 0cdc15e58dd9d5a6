import { dispatchCalls } from './dispatch-calls.js';
import { lifecycleCalls } from './lifecycle-calls.js';
import { jobListCalls } from './list-calls.js';
import { jobReadCalls } from './read-calls.js';
import { registrationCalls } from './registration-calls.js';
import { scaleCalls } from './scale-calls.js';
import { versionCalls, versionTagCalls } from './version-calls.js';

/** Jobs: their documents, versions and instances, and their scheduling state. */
export const jobCalls = {
  ...jobListCalls,
  ...registrationCalls,
  ...jobReadCalls,
  ...dispatchCalls,
  ...versionCalls,
  ...lifecycleCalls,
  ...scaleCalls,
  ...versionTagCalls,
} as const;

export { poolJobCalls } from './list-calls.js';
