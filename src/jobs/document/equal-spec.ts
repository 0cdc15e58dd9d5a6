import { equalFields } from './document-values.js';
import type { Job } from './job.js';

/** Members set by a registration: jobs that differ only in these have the same specification. */
const ignoredFields: ReadonlySet<string> = new Set([
  'Status',
  'StatusDescription',
  'Stable',
  'Version',
  'CreateIndex',
  'ModifyIndex',
  'JobModifyIndex',
  'SubmitTime',
] satisfies (keyof Job)[]);

/**
 * Whether two stored jobs have the same specification, so that registering one over the other creates no version (job
 * interface, versions). Everything except `ignoredFields` counts, including `Stop`, `VersionTag`, `Meta` and the submitting token.
 */
export function equalSpec(a: Job, b: Job): boolean {
  return equalFields(a, b, ignoredFields);
}
