import { err, ok, type Result } from 'neverthrow';
import { type Instant, unixNanosFromInstant, unixSecondsFromInstant } from '../shared/instant.js';
import type { Job } from './document/job.js';
import { type DispatchRefused, type InvalidRequest, invalidRequest } from './errors.js';
import { isParameterized } from './job-record.js';

export interface DispatchRequest {
  /** Standard base64; null and empty mean no payload. */
  readonly payload: string | null;
  readonly meta: Readonly<Record<string, string>> | null;
  readonly idPrefixTemplate: string;
  readonly idempotencyToken: string;
  /** 0 takes the parent's. */
  readonly priority: number;
}

export interface DispatchLimits {
  readonly maximumDispatchPayloadBytes: number;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Checks a dispatch against its parent, in the order that the contract gives (job interface, dispatch). */
export function checkDispatch(
  parent: Job,
  request: DispatchRequest,
  limits: DispatchLimits,
): Result<void, DispatchRefused | InvalidRequest> {
  const block = parent.ParameterizedJob;
  if (block === null || !isParameterized(parent)) {
    return refuse('not_parameterized', `Specified job "${parent.ID}" is not a parameterized job`);
  }
  if (parent.Stop) return refuse('stopped', `Specified job "${parent.ID}" is stopped`);
  const payload = request.payload ?? '';
  // A longer one is refused by its size below, without a look at every character.
  const looked = payload.length <= 2 * limits.maximumDispatchPayloadBytes + 4;
  if (looked && !base64.test(payload))
    return err(invalidRequest('Payload', 'Payload must be standard base64 with padding'));
  const bytes = decodedLength(payload);
  if (block.Payload === 'required' && bytes === 0)
    return refuse('payload_required', 'Payload is not provided but required by parameterized job');
  if (block.Payload === 'forbidden' && bytes > 0)
    return refuse('payload_forbidden', 'Payload provided but forbidden by parameterized job');
  const maximum = limits.maximumDispatchPayloadBytes;
  if (bytes > maximum) {
    return refuse('payload_too_large', `Payload exceeds maximum size; ${bytes} > ${maximum}`);
  }
  const given = Object.keys(request.meta ?? {});
  const required = block.MetaRequired ?? [];
  const permitted = new Set([...required, ...(block.MetaOptional ?? [])]);
  const unpermitted = given.filter((key) => !permitted.has(key)).sort();
  if (unpermitted.length > 0) {
    return refuse('meta_not_permitted', `Dispatch request included unpermitted metadata keys: ${listed(unpermitted)}`);
  }
  const present = new Set(given);
  const missing = required.filter((key) => !present.has(key)).sort();
  if (missing.length > 0) {
    return refuse('meta_missing', `Dispatch did not provide required meta keys: ${listed(missing)}`);
  }
  const { priority } = request;
  if (priority !== 0 && (!Number.isInteger(priority) || priority < 1 || priority > 100)) {
    return refuse('priority', `Priority must be between 1 and 100, got ${priority}`);
  }
  return ok(undefined);
}

/** The instance that a checked dispatch makes of its parent; the status is for the writer to compute. */
export function dispatchedChild(
  parent: Job,
  request: DispatchRequest,
  index: number,
  now: Instant,
  suffix: string,
): Job {
  const ID = dispatchId(parent.ID, request.idPrefixTemplate, now, suffix);
  const payload = request.payload ?? '';
  return {
    ...parent,
    ID,
    Name: ID,
    ParentID: parent.ID,
    Dispatched: true,
    DispatchIdempotencyToken: request.idempotencyToken,
    Priority: request.priority === 0 ? parent.Priority : request.priority,
    Meta: mergedMeta(parent.Meta, request.meta),
    Payload: payload === '' ? null : payload,
    Status: 'pending',
    StatusDescription: '',
    SubmitTime: unixNanosFromInstant(now),
    CreateIndex: index,
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}

/** `<parent>/dispatch-<seconds>-<suffix>`, with the caller's prefix before the seconds when there is one. */
function dispatchId(parentId: string, prefix: string, now: Instant, suffix: string): string {
  const seconds = unixSecondsFromInstant(now);
  return prefix === ''
    ? `${parentId}/dispatch-${seconds}-${suffix}`
    : `${parentId}/dispatch-${prefix}-${seconds}-${suffix}`;
}

function mergedMeta(parent: Job['Meta'], given: DispatchRequest['meta']): Job['Meta'] {
  if (given === null || Object.keys(given).length === 0) return parent;
  return { ...parent, ...given };
}

function decodedLength(payload: string): number {
  const padding = payload.endsWith('==') ? 2 : payload.endsWith('=') ? 1 : 0;
  return (payload.length / 4) * 3 - padding;
}

function refuse(reason: DispatchRefused['reason'], message: string): Result<never, DispatchRefused> {
  return err({ type: 'dispatch_refused', reason, message });
}

/** Names for an error text: quoted, and no more of them than a person reads. */
function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, 20).map((key) => JSON.stringify(key.slice(0, 64)));
  return keys.length > 20 ? `${shown.join(', ')} and ${keys.length - 20} more` : shown.join(', ');
}
