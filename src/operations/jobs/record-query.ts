import type { Principal } from '../../access/principal.js';
import { type InvalidRequest, malformedId } from '../../jobs/errors.js';
import { namespaceOf } from '../../jobs/job-reference.js';
import { isUuid } from '../../queries/list-tokens.js';
import { authorise, type PermissionDenied } from '../authorise.js';
import type { NamespaceQuery } from './read-query.js';

/** One evaluation, allocation or deployment by its ID. */
export interface RecordQuery extends NamespaceQuery {
  readonly id: string;
}

/**
 * Evaluations, allocations and deployments are looked up by their whole ID only. The right to read in the namespace of
 * the request is checked first, so that a caller without it learns nothing.
 */
export function faultOfLookUp(caller: Principal, input: RecordQuery): PermissionDenied | InvalidRequest | undefined {
  const allowed = authorise(caller, namespaceOf(input), ['read-job']);
  if (allowed.isErr()) return allowed.error;
  return isUuid(input.id) ? undefined : malformedId();
}
