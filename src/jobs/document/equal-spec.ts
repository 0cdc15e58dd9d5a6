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

const nothing: ReadonlySet<string> = new Set();

function equalFields(a: object, b: object, ignored: ReadonlySet<string>): boolean {
  let present = 0;
  for (const key in a) {
    if (!Object.hasOwn(a, key)) continue;
    present++;
    if (ignored.has(key)) continue;
    if (!Object.hasOwn(b, key)) return false;
    if (!equalValues((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])) return false;
  }
  return present === Object.keys(b).length;
}

function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, index) => equalValues(element, b[index]));
  }
  return !Array.isArray(b) && equalFields(a, b, nothing);
}
