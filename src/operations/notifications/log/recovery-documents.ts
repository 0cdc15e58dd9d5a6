import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import type { BulkRedeliverySpan } from '../../../api/calls/event-calls.js';
import type { RecoverySpan } from '../../../api/calls/notification-calls.js';
import {
  type RecoverableOutcome,
  recoverableOutcome,
  recoverableOutcomes,
} from '../../../notifications/delivery/recovery.js';
import type {
  Conflict,
  FieldFault,
  InvalidAttributes,
  InvalidParameter,
  NotFound,
} from '../../../notifications/errors.js';
import type { StorageError } from '../../../ports/storage.js';
import { type Instant, instantFromRfc3339 } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { listDeliveries } from './list-deliveries.js';
import {
  type BulkRedeliveryRequest,
  countRecoverable,
  listBulkRedeliveries,
  type RecoverableCount,
  type RecoveryView,
  startBulkRedelivery,
} from './recoveries.js';
import { type Recovered, recoverDeliveries } from './redeliver.js';

/* Redeliveries as documents request them: the members are unchecked input. A missing or invisible configuration or workspace is reported first. */

interface RecoveryDocument {
  readonly configurationId: string;
  readonly span: RecoverySpan;
  readonly faults: readonly FieldFault[];
}

interface BulkDocument {
  readonly workspaceId: string;
  readonly span: BulkRedeliverySpan;
  readonly faults: readonly FieldFault[];
}

/** `recoverDeliveries` for the time range of a document. */
export function recoverDeliveriesOfDocument(
  context: EngineContext,
  caller: Principal,
  { configurationId, span, faults: earlier }: RecoveryDocument,
): ResultAsync<Recovered, NotFound | Conflict | InvalidAttributes | InvalidParameter | StorageError> {
  const { faults, refuse, since, until, outcome } = readSpan(span, earlier);
  if (since !== undefined && until !== undefined && since > until) {
    refuse('until', 'until must not be earlier than since');
  }
  if (faults.length > 0 || since === undefined) {
    return listDeliveries(context, caller, { configurationId, pageSize: 1 }).andThen(() => errAsync(invalid(faults)));
  }
  return recoverDeliveries(context, caller, {
    configurationId,
    since,
    ...(until === undefined ? {} : { until }),
    ...(outcome === undefined ? {} : { outcome }),
  });
}

/** `countRecoverable` for the deliveries that a document selects. */
export function countRecoverableOfDocument(
  context: EngineContext,
  caller: Principal,
  document: BulkDocument,
): ResultAsync<RecoverableCount, NotFound | InvalidAttributes | StorageError> {
  return bulk(context, caller, document, countRecoverable);
}

/** `startBulkRedelivery` for the deliveries that a document selects. */
export function startBulkRedeliveryOfDocument(
  context: EngineContext,
  caller: Principal,
  document: BulkDocument,
): ResultAsync<RecoveryView, NotFound | InvalidAttributes | StorageError> {
  return bulk(context, caller, document, startBulkRedelivery);
}

function bulk<T>(
  context: EngineContext,
  caller: Principal,
  { workspaceId, span, faults: earlier }: BulkDocument,
  perform: (
    context: EngineContext,
    caller: Principal,
    request: BulkRedeliveryRequest,
  ) => ResultAsync<T, NotFound | InvalidParameter | StorageError>,
): ResultAsync<T, NotFound | InvalidAttributes | StorageError> {
  const { faults, refuse, since, until, outcome } = readSpan(span, earlier);
  const text = (value: unknown, shown: string): string | undefined => {
    if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
    refuse(shown, `${shown} must be a string`);
    return undefined;
  };
  const trigger = text(span.trigger, 'trigger');
  const configurationId = text(span.configurationId, 'configuration-id');
  if (faults.length > 0 || since === undefined) {
    return listBulkRedeliveries(context, caller, { workspaceId }).andThen(() => errAsync(invalid(faults)));
  }
  const request = { workspaceId, since, until, outcome, trigger, configurationId };
  return perform(context, caller, request).mapErr((error) =>
    error.type === 'invalid_parameter' ? invalid([faultAt(error.parameter, error.message)]) : error,
  );
}

interface ReadSpan {
  /** Those of the document, and those of the range. */
  readonly faults: readonly FieldFault[];
  readonly refuse: (name: string, message: string) => void;
  readonly since: Instant | undefined;
  readonly until: Instant | undefined;
  readonly outcome: RecoverableOutcome | undefined;
}

function readSpan(
  span: { readonly since?: unknown; readonly until?: unknown; readonly outcome?: unknown },
  earlier: readonly FieldFault[],
): ReadSpan {
  const faults = [...earlier];
  const refuse = (name: string, message: string): void => void faults.push(faultAt(name, message));
  const instant = (name: string, value: unknown): Instant | undefined => {
    if (value === undefined || value === null) return undefined;
    const read = typeof value === 'string' ? instantFromRfc3339(value) : undefined;
    if (read === undefined) refuse(name, `${name} must be a time such as 2026-01-02T03:04:05Z`);
    return read;
  };
  const since = instant('since', span.since);
  const until = instant('until', span.until);
  if (since === undefined && faults.length === 0) refuse('since', 'since is required');
  const outcome = recoverableOutcome(span.outcome);
  if (outcome === undefined && (span.outcome ?? null) !== null) {
    refuse('outcome', `outcome must be one of ${recoverableOutcomes.join(', ')}`);
  }
  return { faults, refuse, since, until, outcome };
}

function faultAt(name: string, message: string): FieldFault {
  return { pointer: `/data/attributes/${name}`, message };
}

function invalid(faults: readonly FieldFault[]): InvalidAttributes {
  return { type: 'invalid_attributes', faults };
}
