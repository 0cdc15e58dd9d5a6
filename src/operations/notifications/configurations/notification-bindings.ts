import { err, errAsync, ok, okAsync, type Result } from 'neverthrow';
import type { deliveryCalls, notificationCalls, RecoverySpan } from '../../../api/calls/notification-calls.js';
import { recoverableOutcome, recoverableOutcomes } from '../../../notifications/delivery/recovery.js';
import type { FieldFault, InvalidAttributes } from '../../../notifications/errors.js';
import type { Instant } from '../../../shared/instant.js';
import type { Bindings } from '../../binding.js';
import { sendNotificationEvent } from '../events/send-notification-event.js';
import { instantFrom } from '../instant-from.js';
import { listDeliveries, showDelivery } from '../log/list-deliveries.js';
import { type RecoverRequest, recoverDeliveries, redeliver } from '../log/redeliver.js';
import { createNotificationConfiguration } from './create-notification-configuration.js';
import { deleteNotificationConfiguration } from './delete-notification-configuration.js';
import { listNotificationConfigurations, showNotificationConfiguration } from './list-notification-configurations.js';
import { pauseNotificationConfiguration, resumeNotificationConfiguration } from './pause-notification-configuration.js';
import { putNotificationConfiguration } from './put-notification-configuration.js';
import {
  enableNotificationConfiguration,
  updateNotificationConfiguration,
} from './update-notification-configuration.js';
import { verifyNotificationConfiguration } from './verify-notification-configuration.js';

/** The operations of the calls of notification configurations and events. */
export const notificationBindings: Bindings<typeof notificationCalls> = {
  ping: () => okAsync(undefined),
  create: (context, caller, input, { faults }) =>
    createNotificationConfiguration(context, caller, { ...input, faults }),
  list: (context, caller, input) =>
    listNotificationConfigurations(context, caller, { workspaceId: input.workspaceId, page: pageFrom(input) }),
  show: showNotificationConfiguration,
  update: (context, caller, input, { faults }) =>
    updateNotificationConfiguration(context, caller, { ...input, faults }),
  delete: (context, caller, input) => deleteNotificationConfiguration(context, caller, input).map(() => undefined),
  verify: verifyNotificationConfiguration,
  enable: enableNotificationConfiguration,
  pause: pauseNotificationConfiguration,
  resume: resumeNotificationConfiguration,
  health: (context, caller, input) =>
    showNotificationConfiguration(context, caller, input).map(({ id, health }) => ({ id, ...health })),
  declare: (context, caller, input, { faults }) => putNotificationConfiguration(context, caller, { ...input, faults }),
  send: (context, caller, input, { faults }) => sendNotificationEvent(context, caller, { ...input, faults }),
};

/** The operations of the calls of deliveries. */
export const deliveryBindings: Bindings<typeof deliveryCalls> = {
  list: (context, caller, { pageNumber, pageSize, ...input }) =>
    listDeliveries(context, caller, {
      ...input,
      page: pageFrom({
        ...(pageNumber === undefined ? {} : { pageNumber }),
        ...(pageSize === undefined ? {} : { pageSize }),
      }),
    }),
  show: showDelivery,
  redeliver,
  recover: (context, caller, { configurationId, span }, { faults }) =>
    recoveryFrom(configurationId, span, faults).match(
      (request) => recoverDeliveries(context, caller, request),
      // A missing configuration takes precedence over other errors.
      (error) => listDeliveries(context, caller, { configurationId, page: { size: 1 } }).andThen(() => errAsync(error)),
    ),
};

function pageFrom({ pageNumber, pageSize }: { readonly pageNumber?: number; readonly pageSize?: number }): {
  readonly number?: number;
  readonly size?: number;
} {
  return {
    ...(pageNumber === undefined ? {} : { number: pageNumber }),
    ...(pageSize === undefined ? {} : { size: pageSize }),
  };
}

/** A requested time range; untrusted, so its members may have any type. */
function recoveryFrom(
  configurationId: string,
  span: RecoverySpan,
  earlier: readonly FieldFault[],
): Result<RecoverRequest, InvalidAttributes> {
  const faults = [...earlier];
  const refuse = (name: string, message: string): void => {
    faults.push({ pointer: '/data/attributes/' + name, message });
  };
  const given: { readonly [K in keyof RecoverySpan]?: unknown } = span;
  const since = instantFrom('since', given.since, refuse);
  const until = instantFrom('until', given.until, refuse);
  const { outcome = null } = given;
  if (since === undefined && faults.length === 0) refuse('since', 'since is required');
  if (endsEarly(since, until)) refuse('until', 'until must not be earlier than since');
  const known = recoverableOutcome(outcome);
  if (outcome !== null && known === undefined) {
    refuse('outcome', `outcome must be one of ${recoverableOutcomes.join(', ')}`);
  }
  if (faults.length > 0 || since === undefined) return err({ type: 'invalid_attributes', faults });
  return ok({
    configurationId,
    since,
    ...(until === undefined ? {} : { until }),
    ...(known === undefined ? {} : { outcome: known }),
  });
}

function endsEarly(since: Instant | undefined, until: Instant | undefined): boolean {
  return since !== undefined && until !== undefined && since > until;
}
