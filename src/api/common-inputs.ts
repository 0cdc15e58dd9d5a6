import { inBody, inMembers, inPath, inQuery, repeatedInBody } from './inputs.js';
import { jsonBoolean, jsonText, jsonUnsigned, member } from './json-codecs.js';
import { integer, literalTrue, pageToken, positive, text } from './text-codecs.js';

/** The job of a path. */
export const jobId = inPath('job_id', text);

/** The job of a path, which the body names once more. */
export const jobIdTwice = repeatedInBody(jobId, { name: 'JobID', required: true, what: 'job ID' });

/** What lists take: the beginning of the IDs, and a page. */
export const pageInputs = {
  prefix: inQuery('prefix', text, 'Only IDs that begin with this'),
  filter: inQuery('filter', text, 'A filter expression, asked of the stored records'),
  perPage: inQuery('per_page', integer, 'Items on a page; everything when 0 or absent'),
  nextToken: inQuery('next_token', pageToken, 'Where the page begins: what the page before gave'),
  reverse: inQuery('reverse', literalTrue, 'Last first'),
} as const;

/** What a filter can be wrong with. */
export const filterFaults = ['filter_syntax', 'filter_evaluation'] as const;

/** The page of a list of the notification interface. */
export const numberedPage = {
  pageNumber: inQuery('page[number]', positive, 'Page, from 1'),
  pageSize: inQuery('page[size]', positive, 'Items on a page; 20 when absent, at most 100'),
} as const;

const checkedIndex = { enforce: member('EnforceIndex', jsonBoolean), index: member('JobModifyIndex', jsonUnsigned) };
const printCheckedIndex = (index: number) => ({ enforce: true, index });

/** The index that the job must have, 0 for a new one: a check that a client asks for. */
export const enforceIndex = inMembers<number, typeof checkedIndex>(checkedIndex, {
  read: ({ enforce, index }) => (enforce === true ? (index ?? 0) : undefined),
  print: printCheckedIndex,
});

/** The same where an index alone asks for the check, too. */
export const enforceGivenIndex = inMembers<number, typeof checkedIndex>(checkedIndex, {
  read: ({ enforce, index = 0 }) => (enforce === true || index > 0 ? index : undefined),
  print: printCheckedIndex,
});

/** A second call with the same token has no further effect. */
export const idempotencyToken = inQuery(
  'idempotency_token',
  text,
  'A second dispatch with the same token makes no second instance',
  ['IdempotencyToken'],
);

export const idempotencyTokenInBody = inBody('IdempotencyToken', jsonText);
