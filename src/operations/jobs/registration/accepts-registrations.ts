import { err, ok, type Result } from 'neverthrow';
import type { RegistrationsDisabled } from '../../../jobs/errors.js';
import { readSchedulerConfiguration } from '../../records/scheduling/scheduler-configuration-rows.js';
import type { Transaction } from '../../write-transaction.js';

/**
 * Passes unless the configuration of the scheduler has RejectJobRegistration and the caller is not management (job interface, operator
 * scheduler configuration). Existing clients match the message.
 */
export function acceptsRegistrations(tx: Transaction): Result<void, RegistrationsDisabled> {
  if (tx.caller.management || !readSchedulerConfiguration(tx).RejectJobRegistration) return ok(undefined);
  const message = 'job registration, dispatch, and scale are disabled by the scheduler configuration';
  return err({ type: 'registrations_disabled', message });
}
