import { err, errAsync, ok, type Result } from 'neverthrow';
import type { userCalls, workspaceCalls } from '../../../api/calls/directory-calls.js';
import type { BulkRedeliverySpan, eventCalls, eventTypeCalls, recoveryCalls } from '../../../api/calls/event-calls.js';
import { recoverableOutcome, recoverableOutcomes } from '../../../notifications/delivery/recovery.js';
import type { FieldFault, InvalidAttributes, InvalidParameter } from '../../../notifications/errors.js';
import type { Bindings } from '../../binding.js';
import { instantFrom } from '../instant-from.js';
import {
  type BulkRedeliveryRequest,
  cancelBulkRedelivery,
  countRecoverable,
  listBulkRedeliveries,
  startBulkRedelivery,
} from '../log/recoveries.js';
import { putUser, removeUser } from '../workspaces/put-user.js';
import { putWorkspace, removeWorkspace } from '../workspaces/put-workspace.js';
import { eraseNotificationEvent } from './erase-notification-event.js';
import { listEventTypes, putEventType, removeEventType, showEventType } from './event-types.js';
import { listNotificationEvents, showNotificationEvent } from './events-log.js';
import { explainEvent } from './send-notification-event.js';

/** The operations of the calls of events. */
export const eventBindings: Bindings<typeof eventCalls> = {
  list: (context, caller, { pageNumber, pageSize, ...input }) =>
    listNotificationEvents(context, caller, { ...input, page: { number: pageNumber, size: pageSize } }),
  show: showNotificationEvent,
  erase: eraseNotificationEvent,
  explain: (context, caller, input, { faults }) => explainEvent(context, caller, { ...input, faults }),
};

/** The operations of the calls of bulk redeliveries. */
export const recoveryBindings: Bindings<typeof recoveryCalls> = {
  count: (context, caller, { workspaceId, span }, { faults }) =>
    requestFrom(workspaceId, span, faults).match(
      (request) => countRecoverable(context, caller, request).mapErr(inDocument),
      (error) => listBulkRedeliveries(context, caller, { workspaceId }).andThen(() => errAsync(error)),
    ),
  start: (context, caller, { workspaceId, span }, { faults }) =>
    requestFrom(workspaceId, span, faults).match(
      (request) => startBulkRedelivery(context, caller, request).mapErr(inDocument),
      // A missing workspace takes precedence over other errors.
      (error) => listBulkRedeliveries(context, caller, { workspaceId }).andThen(() => errAsync(error)),
    ),
  list: listBulkRedeliveries,
  cancel: cancelBulkRedelivery,
};

/** The operations of the calls of event types. */
export const eventTypeBindings: Bindings<typeof eventTypeCalls> = {
  list: (context, caller) => listEventTypes(context, caller),
  show: showEventType,
  put: (context, caller, { name, type }, { faults }) =>
    faults.length > 0 ? errAsync(invalid(faults)) : putEventType(context, caller, { ...type, name }),
  remove: removeEventType,
};

/** The operations of the calls of workspaces. */
export const workspaceBindings: Bindings<typeof workspaceCalls> = {
  put: (context, caller, { id, workspace }, { faults }) =>
    faults.length > 0 ? errAsync(invalid(faults)) : putWorkspace(context, caller, { ...workspace, id }),
  remove: (context, caller, { id }) => removeWorkspace(context, caller, { workspaceId: id }),
};

/** The operations of the calls of users. */
export const userBindings: Bindings<typeof userCalls> = {
  put: (context, caller, { id, user }, { faults }) =>
    faults.length > 0 ? errAsync(invalid(faults)) : putUser(context, caller, { ...user, id }),
  remove: (context, caller, { id }) => removeUser(context, caller, { userId: id }),
};

/** A parameter error of the operation as a fault of the document's member. */
function inDocument<E extends { readonly type: string }>(
  error: E | InvalidParameter,
): Exclude<E, InvalidParameter> | InvalidAttributes {
  if (error.type !== 'invalid_parameter') return error as Exclude<E, InvalidParameter>;
  const { parameter, message } = error as InvalidParameter;
  return invalid([{ pointer: `/data/attributes/${parameter}`, message }]);
}

function invalid(faults: readonly FieldFault[]): InvalidAttributes {
  return { type: 'invalid_attributes', faults };
}

/** A requested recovery; untrusted, so its members may have any type. */
function requestFrom(
  workspaceId: string,
  span: BulkRedeliverySpan,
  earlier: readonly FieldFault[],
): Result<BulkRedeliveryRequest, InvalidAttributes> {
  const faults = [...earlier];
  const refuse = (name: string, message: string): void =>
    void faults.push({ pointer: `/data/attributes/${name}`, message });
  const given: { readonly [K in keyof BulkRedeliverySpan]?: unknown } = span;
  const since = instantFrom('since', given.since, refuse);
  const until = instantFrom('until', given.until, refuse);
  const outcome = recoverableOutcome(given.outcome);
  if (since === undefined && faults.length === 0) refuse('since', 'since is required');
  if (outcome === undefined && (given.outcome ?? null) !== null) {
    refuse('outcome', `outcome must be one of ${recoverableOutcomes.join(', ')}`);
  }
  const text = (name: 'trigger' | 'configurationId', shown: string): string | undefined => {
    const value = given[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    refuse(shown, `${shown} must be a string`);
    return undefined;
  };
  const trigger = text('trigger', 'trigger');
  const configurationId = text('configurationId', 'configuration-id');
  if (faults.length > 0 || since === undefined) return err(invalid(faults));
  return ok({ workspaceId, since, until, outcome, trigger, configurationId });
}
