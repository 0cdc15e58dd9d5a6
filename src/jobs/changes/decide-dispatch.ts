import { err, ok, type Result } from 'neverthrow';
import { type Instant, unixSecondsFromInstant, type WriteStamp } from '../../shared/instant.js';
import { isBase64 } from '../../shared/values.js';
import type { Job, ParameterizedJobConfig } from '../document/job.js';
import { type DispatchRefused, type InvalidRequest, invalidRequest } from '../errors.js';
import { isParameterized, newInstance } from '../job-record.js';
import { listed } from '../validation/problems.js';
import { dispatchSizeProblem, mapProblem, unreachable } from '../validation/validate-strings.js';

/** Payload and metadata of a dispatch. */
export interface DispatchRequest {
  /** Standard base64; null and empty mean no payload. */
  readonly payload: string | null;
  readonly meta: Readonly<Record<string, string>> | null;
  readonly idPrefixTemplate: string;
  readonly idempotencyToken: string;
  /** The parent's when 0. */
  readonly priority: number;
}

/** Limits of a dispatch, from the settings. */
export interface DispatchLimits {
  readonly maximumDispatchPayloadBytes: number;
}

/** Checks a dispatch against its parent (job interface, dispatch). The order of the checks is that of Nomad. */
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
  return checkPayload(block, request.payload ?? '', limits)
    .andThen(() => checkMeta(block, Object.keys(request.meta ?? {})))
    .andThen(() => {
      const unusable = unusableText(parent, request);
      return unusable === undefined ? ok(undefined) : err(unusable);
    })
    .andThen(() => checkPriority(request.priority));
}

function checkPayload(
  block: ParameterizedJobConfig,
  payload: string,
  { maximumDispatchPayloadBytes: maximum }: DispatchLimits,
): Result<void, DispatchRefused | InvalidRequest> {
  // A longer payload is refused by its size below, without reading its characters.
  const looked = payload.length <= 2 * maximum + 4;
  if (looked && !isBase64(payload))
    return err(invalidRequest('Payload', 'Payload must be standard base64 with padding'));
  const bytes = decodedLength(payload);
  if (block.Payload === 'required' && bytes === 0)
    return refuse('payload_required', 'Payload is not provided but required by parameterized job');
  if (block.Payload === 'forbidden' && bytes > 0)
    return refuse('payload_forbidden', 'Payload provided but forbidden by parameterized job');
  return bytes > maximum
    ? refuse('payload_too_large', `Payload exceeds maximum size; ${bytes} > ${maximum}`)
    : ok(undefined);
}

function checkMeta(block: ParameterizedJobConfig, given: readonly string[]): Result<void, DispatchRefused> {
  const required = block.MetaRequired ?? [];
  const permitted = new Set([...required, ...(block.MetaOptional ?? [])]);
  const unpermitted = given.filter((key) => !permitted.has(key)).sort();
  if (unpermitted.length > 0) {
    return refuse('meta_not_permitted', `Dispatch request included unpermitted metadata keys: ${listed(unpermitted)}`);
  }
  const present = new Set(given);
  const missing = required.filter((key) => !present.has(key)).sort();
  return missing.length > 0
    ? refuse('meta_missing', `Dispatch did not provide required meta keys: ${listed(missing)}`)
    : ok(undefined);
}

function checkPriority(priority: number): Result<void, DispatchRefused> {
  const fits = priority === 0 || (Number.isInteger(priority) && priority >= 1 && priority <= 100);
  return fits ? ok(undefined) : refuse('priority', `Priority must be between 1 and 100, got ${priority}`);
}

/** Why a string would prevent the instance from starting, or its ID from being used in a path. */
function unusableText(parent: Job, { meta, idPrefixTemplate }: DispatchRequest): InvalidRequest | undefined {
  const metaProblem = mapProblem(meta) ?? dispatchSizeProblem(parent, meta);
  if (metaProblem !== undefined) return invalidRequest('Meta', `Meta: ${metaProblem}`);
  if (idPrefixTemplate === '') return undefined;
  const idProblem = idPrefixTemplate.includes('\0')
    ? 'it must not contain NUL'
    : unreachable(`${parent.ID}/dispatch-${idPrefixTemplate}-0-0`);
  if (idProblem === undefined) return undefined;
  return invalidRequest('IdPrefixTemplate', `IdPrefixTemplate results in an invalid ID: ${idProblem}`);
}

/** The instance that a valid dispatch creates; the writer computes its status. */
export function dispatchedChild(parent: Job, request: DispatchRequest, write: WriteStamp, suffix: string): Job {
  const id = dispatchId(parent.ID, request.idPrefixTemplate, write.now, suffix);
  const payload = request.payload ?? '';
  return {
    ...newInstance(parent, id, write),
    Dispatched: true,
    DispatchIdempotencyToken: request.idempotencyToken,
    Priority: request.priority === 0 ? parent.Priority : request.priority,
    Meta: mergedMeta(parent.Meta, request.meta),
    Payload: payload === '' ? null : payload,
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
