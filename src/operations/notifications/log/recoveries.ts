import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsWorkspace } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import { answeredAs, answerFault } from '../../../notifications/delivery/answer-filter.js';
import type { Delivery } from '../../../notifications/delivery/delivery.js';
import {
  type RecoverableOutcome,
  type Recovery,
  type RecoveryFilter,
  recoverableOutcome,
  recoverableOutcomes,
  recoveries,
  spanFault,
} from '../../../notifications/delivery/recovery.js';
import type {
  Conflict,
  FieldFault,
  InvalidAttributes,
  InvalidParameter,
  NotFound,
} from '../../../notifications/errors.js';
import { workspaces } from '../../../notifications/workspace.js';
import type { ReadView, Row, StorageError } from '../../../ports/storage.js';
import { type Instant, instantFromRfc3339, isoFromInstant } from '../../../shared/instant.js';
import { commitValue } from '../../commit.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import { isOfPresentWorkspace } from '../../records/earlier-workspace.js';
import type { MayWait } from '../../waiting/blocking-query.js';
import { rowsUnder } from '../../waiting/parked-queries.js';
import { findWorkspace, visibleConfigurations } from '../find-resource.js';
import { readTriggerFilter } from '../list-inputs.js';
import { readRowsWaiting } from '../read-waiting.js';
import { endedDeliveries, isSelected, readAtOnce } from './delivery-log.js';
import { listDeliveries } from './list-deliveries.js';
import { endOf, type Recovered, readRecoverableOutcome, recoverDeliveries } from './redeliver.js';

/** The time range whose deliveries are sent again; times as `2026-01-02T03:04:05Z`. */
export interface RecoverySpan {
  readonly since: string;
  /** Default: now. */
  readonly until?: string;
  /** Default: `dead`. */
  readonly outcome?: 'dead' | 'cancelled' | 'partly_delivered';
}

/** Selection of the deliveries of a bulk redelivery; times as `2026-01-02T03:04:05Z`. */
export interface BulkRedeliverySpan extends RecoverySpan {
  /** A trigger or an event type; default: all. */
  readonly trigger?: string;
  /** Last answer: a status code, a class such as `5xx`, or `none` for no answer; default: all. */
  readonly status?: string;
  /** Default: all enabled configurations of the workspace. */
  readonly configurationId?: string;
}

/** Selects the deliveries to re-send: of a workspace or one of its configurations, ended in a time range. */
interface BulkRedeliveryRequest {
  readonly workspaceId: string;
  /** All enabled configurations of the workspace when absent. */
  readonly configurationId?: string | undefined;
  /** `dead` when absent. */
  readonly outcome?: RecoverableOutcome | undefined;
  /** Deliveries that ended from this time on. */
  readonly since: Instant;
  /** Until now when absent. */
  readonly until?: Instant | undefined;
  /** Any form of a trigger; all when absent. */
  readonly trigger?: string | undefined;
  /** As `answeredAs` reads it; all when absent. */
  readonly status?: string | undefined;
}

/** The progress of a bulk redelivery; times are RFC 3339 in UTC with milliseconds. */
export interface RecoveryView {
  readonly id: string;
  readonly workspaceId: string;
  /** Whether it is running, done or cancelled. */
  readonly state: 'running' | 'done' | 'cancelled';
  /** Of which last answer the deliveries are: a status code, a class such as `5xx`, or `none`; null for all. */
  readonly status: string | null;
  /** The number of deliveries counted at its start. */
  readonly total: number;
  /** The number of redeliveries requested so far. */
  readonly redelivered: number;
  readonly createdAt: string;
  /** Null while it is running. */
  readonly finishedAt: string | null;
}

/** The number of deliveries that a bulk redelivery would re-send. */
export interface RecoverableCount {
  /** A lower bound if `whole` is false. */
  readonly count: number;
  /** False when there were too many to count. */
  readonly whole: boolean;
}

/** The maximum number of counted deliveries. */
const mostCounted = 100_000;

/** Counts the deliveries that `startBulkRedelivery` with the same request would re-send. Writes nothing. */
export function countRecoverable(
  context: EngineContext,
  caller: Principal,
  request: BulkRedeliveryRequest,
): ResultAsync<RecoverableCount, NotFound | InvalidParameter | StorageError> {
  return readResult(context, (view) =>
    decide(view, caller, request, context.clock.now()).map((it) => countOf(view, it)),
  );
}

/** Begins a bulk redelivery, which runs in the background and continues after restarts. */
export function startBulkRedelivery(
  context: EngineContext,
  caller: Principal,
  request: BulkRedeliveryRequest,
): ResultAsync<RecoveryView, NotFound | InvalidParameter | StorageError> {
  return commitValue<RecoveryView, NotFound | InvalidParameter>(context, caller, (tx) => {
    const decided = decide(tx, caller, request, tx.now);
    if (decided.isErr()) return err(decided.error);
    const recovery: Recovery = {
      ...decided.value,
      id: tx.ids.next('uuid'),
      reached: null,
      total: countOf(tx, decided.value).count,
      redelivered: 0,
      state: 'running',
      createdAt: tx.now,
      finishedAt: null,
    };
    tx.put(recoveries, recovery);
    return ok(viewRecovery(recovery));
  });
}

/** The latest bulk redeliveries of a workspace, newest first, at most 100. */
export function listBulkRedeliveries(
  context: EngineContext,
  caller: Principal,
  { workspaceId, waiting }: MayWait & { readonly workspaceId: string },
): ResultAsync<{ readonly items: readonly RecoveryView[]; readonly index: number }, NotFound | StorageError> {
  const scope = { index: 'by_workspace', prefix: [workspaceId] };
  return readRowsWaiting(
    context,
    [rowsUnder(recoveries, scope.prefix, scope.index), rowsUnder(workspaces, [workspaceId])],
    (view) =>
      findWorkspace(view, caller, workspaceId).map(() => ({
        items: view
          .list(recoveries, { ...scope, reverse: true, limit: 100 })
          .filter(({ createIndex }) => isOfPresentWorkspace(view, workspaceId, createIndex))
          .map(({ record }) => viewRecovery(record)),
      })),
    waiting,
  );
}

/** One bulk redelivery with its progress. */
export function showBulkRedelivery(
  context: EngineContext,
  caller: Principal,
  { recoveryId, waiting }: MayWait & { readonly recoveryId: string },
): ResultAsync<RecoveryView & { readonly index: number }, NotFound | StorageError> {
  const tables = [rowsUnder(recoveries, [recoveryId]), workspaces];
  return readRowsWaiting(context, tables, (view) => findRecovery(view, caller, recoveryId).map(viewRecovery), waiting);
}

/** Cancels a bulk redelivery; redeliveries requested so far are still sent. */
export function cancelBulkRedelivery(
  context: EngineContext,
  caller: Principal,
  { recoveryId }: { readonly recoveryId: string },
): ResultAsync<RecoveryView, NotFound | StorageError> {
  return commitValue<RecoveryView, NotFound>(context, caller, (tx) => {
    const found = findRecovery(tx, caller, recoveryId);
    if (found.isErr()) return err(found.error);
    const recovery = found.value;
    const visible = visibleConfigurations(tx, caller, recovery.workspaceId).map(({ id }) => id);
    const isOfOthers = recovery.configurations.some((id) => !visible.includes(id) && tx.get(configurations, [id]));
    if (isOfOthers) return err({ type: 'not_found', resource: 'notification_recovery', id: recoveryId });
    if (recovery.state !== 'running') return ok(viewRecovery(recovery));
    const ended: Recovery = { ...recovery, state: 'cancelled', finishedAt: tx.now };
    tx.put(recoveries, ended);
    return ok(viewRecovery(ended));
  });
}

function findRecovery(view: ReadView, caller: Principal, id: string): Result<Recovery, NotFound> {
  const row = view.get(recoveries, [id]);
  return row !== undefined && maySee(view, caller, row)
    ? ok(row.record)
    : err({ type: 'not_found', resource: 'notification_recovery', id });
}

function maySee(view: ReadView, caller: Principal, { record, createIndex }: Row<Recovery>): boolean {
  if (caller.management) return true;
  const { workspaceId } = record;
  return allowsWorkspace(caller, workspaceId, 'portal') && isOfPresentWorkspace(view, workspaceId, createIndex);
}

type Decided = Pick<Recovery, 'workspaceId' | 'configurations' | keyof RecoveryFilter>;

function decide(
  view: ReadView,
  caller: Principal,
  request: BulkRedeliveryRequest,
  now: Instant,
): Result<Decided, NotFound | InvalidParameter> {
  const { workspaceId, configurationId, since, status } = request;
  const until = request.until ?? Math.max(since, now + 1);
  const workspace = findWorkspace(view, caller, workspaceId);
  if (workspace.isErr()) return err(workspace.error);
  const fault = spanFault(since, until);
  if (fault !== undefined) return err(fault);
  const outcome = readRecoverableOutcome(request.outcome);
  if (outcome.isErr()) return err(outcome.error);
  if (answeredAs(status) === null) return err({ type: 'invalid_parameter', parameter: 'status', message: answerFault });
  const trigger = readTriggerFilter(view, 'trigger', request.trigger);
  if (trigger.isErr()) return err(trigger.error);
  const own = visibleConfigurations(view, caller, workspaceId);
  const asked = own.filter(({ id, enabled }) => (configurationId === undefined ? enabled : id === configurationId));
  if (configurationId !== undefined && asked.length === 0) {
    return err({ type: 'not_found', resource: 'notification_configuration', id: configurationId });
  }
  return ok({
    workspaceId,
    configurations: asked.map(({ id }) => id),
    outcome: outcome.value,
    since,
    until,
    trigger: trigger.value,
    ...(status === undefined ? {} : { status }),
  });
}

function countOf(view: ReadView, decided: Decided): RecoverableCount {
  let count = 0;
  let looked = 0;
  for (const configurationId of decided.configurations) {
    let after: Recovery['reached'] = null;
    for (;;) {
      const rows: readonly Delivery[] = endedDeliveries(view, configurationId, decided, after);
      count += rows.filter((delivery) => isSelected(delivery, decided)).length;
      looked += rows.length;
      const last = rows.at(-1);
      if (last === undefined || rows.length < readAtOnce) break;
      if (looked >= mostCounted) return { count, whole: false };
      after = endOf(last);
    }
  }
  return { count, whole: true };
}

function viewRecovery(recovery: Recovery): RecoveryView {
  const { id, workspaceId, state, status = null, total, redelivered, finishedAt } = recovery;
  const createdAt = isoFromInstant(recovery.createdAt);
  const ended = finishedAt === null ? null : isoFromInstant(finishedAt);
  return { id, workspaceId, state, status, total, redelivered, createdAt, finishedAt: ended };
}

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
export const countRecoverableOfDocument = bulkOfDocument(countRecoverable);

/** `startBulkRedelivery` for the deliveries that a document selects. */
export const startBulkRedeliveryOfDocument = bulkOfDocument(startBulkRedelivery);

function bulkOfDocument<T>(
  perform: (
    context: EngineContext,
    caller: Principal,
    request: BulkRedeliveryRequest,
  ) => ResultAsync<T, NotFound | InvalidParameter | StorageError>,
) {
  return (
    context: EngineContext,
    caller: Principal,
    { workspaceId, span, faults: earlier }: BulkDocument,
  ): ResultAsync<T, NotFound | InvalidAttributes | StorageError> => {
    const { faults, refuse, since, until, outcome } = readSpan(span, earlier);
    const text = (value: unknown, shown: string): string | undefined => {
      if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
      refuse(shown, `${shown} must be a string`);
      return undefined;
    };
    const trigger = text(span.trigger, 'trigger');
    const status = text(span.status, 'status');
    const configurationId = text(span.configurationId, 'configuration-id');
    if (faults.length > 0 || since === undefined) {
      return listBulkRedeliveries(context, caller, { workspaceId }).andThen(() => errAsync(invalid(faults)));
    }
    const request = { workspaceId, since, until, outcome, trigger, status, configurationId };
    return perform(context, caller, request).mapErr((error) =>
      error.type === 'invalid_parameter' ? invalid([faultAt(error.parameter, error.message)]) : error,
    );
  };
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
