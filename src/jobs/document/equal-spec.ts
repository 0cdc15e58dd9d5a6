import { equalFields } from './equal-values.js';
import type { Job } from './job.js';

/** Bookkeeping of a registration: two jobs that differ only here are the same specification. */
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
 * Whether two stored jobs are the same specification, so that registering one over the other makes no new version (job
 * interface, versions). Everything but the bookkeeping counts, also `Stop`, `VersionTag`, `Meta` and the submitting token.
 */
export function equalSpec(a: Job, b: Job): boolean {
  return equalFields(a, b, ignoredFields);
}
