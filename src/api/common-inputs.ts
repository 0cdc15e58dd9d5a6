import { inBody, inMembers, inPath, inQuery, repeatedInBody } from './inputs.js';
import { jsonBoolean, jsonText, jsonUnsigned, member } from './json-codecs.js';
import { beginningOfId, integer, literalTrue, pageToken, positive, strictBoolean, text } from './text-codecs.js';

/** The job ID in the path. */
export const jobId = inPath('job_id', text);

/** The job ID in the path, which the body repeats. */
export const jobIdTwice = repeatedInBody(jobId, { name: 'JobID', required: true, what: 'job ID' });

/** Inputs of lists: an ID prefix, and a page. */
export const pageInputs = {
  prefix: inQuery('prefix', text, 'Only IDs with this prefix'),
  filter: inQuery('filter', text, 'A filter expression over the stored records'),
  perPage: inQuery('per_page', integer, 'Items per page; default or 0: all'),
  nextToken: inQuery('next_token', pageToken, 'Start of the page: the token that the previous page returned'),
  reverse: inQuery('reverse', literalTrue, 'In reverse order'),
} as const;

/** The same for records whose IDs are UUIDs. */
export const pageOfUuids = {
  ...pageInputs,
  prefix: inQuery('prefix', beginningOfId, 'Only IDs with this prefix'),
} as const;

/** Optional details in lists of nodes. */
export const nodeDetails = {
  resources: inQuery('resources', strictBoolean, 'Include the resources of each node'),
  os: inQuery('os', strictBoolean, 'Include the attribute os.name of each node'),
} as const;

/** Errors of a filter. */
export const filterFaults = ['filter_syntax', 'filter_evaluation'] as const;

/** The page inputs of a list of the notification interface. */
export const numberedPage = {
  pageNumber: inQuery('page[number]', positive, 'Page, from 1'),
  pageSize: inQuery('page[size]', positive, 'Items per page; default: 20, at most 100'),
} as const;

const checkedIndex = { enforce: member('EnforceIndex', jsonBoolean), index: member('JobModifyIndex', jsonUnsigned) };
const printCheckedIndex = (index: number) => ({ enforce: true, index });

/** Check-and-set: the index that the job must have, 0 for a new job. */
export const enforceIndex = inMembers<number, typeof checkedIndex>(checkedIndex, {
  read: ({ enforce, index }) => (enforce === true ? (index ?? 0) : undefined),
  print: printCheckedIndex,
});

/** The same, for calls where an index alone enables the check. */
export const enforceGivenIndex = inMembers<number, typeof checkedIndex>(checkedIndex, {
  read: ({ enforce, index = 0 }) => (enforce === true || index > 0 ? index : undefined),
  print: printCheckedIndex,
});

/** Idempotency token: a second call with the same token has no further effect. */
export const idempotencyToken = inQuery(
  'idempotency_token',
  text,
  'A repeated dispatch with the same token creates no second instance',
  ['IdempotencyToken'],
);

export const idempotencyTokenInBody = inBody('IdempotencyToken', jsonText);

/** The allocation ID in the path. */
export const allocationInPath = inPath('allocation_id', text);

/** The task that a command concerns. */
export const taskInQuery = inQuery('task', text, 'Name of the task');

/** Errors of commands that nodes carry out. */
export const commandErrors = ['command_invalid', 'command_not_found', 'command_failed'] as const;
