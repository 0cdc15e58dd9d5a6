import { err, ok, type Result } from 'neverthrow';
import { demandOf, minus, noDemand, quotaExcess, quotaOf } from '../../../jobs/admission/namespace-quota.js';
import type { Registration } from '../../../jobs/changes/decide-registration.js';
import type { Job } from '../../../jobs/document/job.js';
import type { InvalidJob, QuotaExceeded } from '../../../jobs/errors.js';
import { usageOf } from '../../reactions/quotas.js';
import type { Transaction } from '../../write-transaction.js';
import { checkJob } from './check-job.js';

/**
 * The registration, if its job is within the quota and valid with the preserved counts and resources. An unchanged registration
 * requests nothing more.
 */
export function checkQuota(
  tx: Transaction,
  registration: Registration,
): Result<Registration, QuotaExceeded | InvalidJob> {
  if (registration.type === 'unchanged') return ok(registration);
  const { job } = registration;
  if (registration.type === 'created') return withinQuota(tx, undefined, job).map(() => registration);
  const checked = registration.kept === undefined ? ok([]) : checkJob(tx, job, tx.settings, tx.now);
  return checked.andThen(() => withinQuota(tx, registration.previous, job)).map(() => registration);
}

/** Warnings about preserved counts and resources. */
export function keptWarnings(registration: Registration): readonly string[] {
  return registration.type === 'updated' ? (registration.kept ?? []) : [];
}

/** Checks that the new state of the job is within the quota of its namespace. Call it before the job is written. */
export function withinQuota(tx: Transaction, before: Job | undefined, after: Job): Result<void, QuotaExceeded> {
  const namespace = after.Namespace;
  const rule = quotaOf(tx.settings.jobs.quotas, namespace);
  if (rule === undefined) return ok(undefined);
  const live: Job = { ...after, Status: 'pending' };
  const more = minus(demandOf(live), before === undefined ? noDemand : demandOf(before));
  const excess = quotaExcess({ namespace, rule, used: usageOf(tx, namespace) }, more);
  return excess === undefined ? ok(undefined) : err(excess);
}
