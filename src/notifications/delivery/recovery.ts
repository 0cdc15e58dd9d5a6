import type { Instant } from '../../shared/instant.js';
import { type Key, table } from '../../shared/table.js';
import type { InvalidParameter } from '../errors.js';

/** Outcomes of deliveries that can be re-sent in bulk. */
export const recoverableOutcomes: readonly RecoverableOutcome[] = ['dead', 'cancelled', 'partly_delivered'];
/** An outcome whose deliveries can be re-sent. */
export type RecoverableOutcome = 'dead' | 'cancelled' | 'partly_delivered';

/** The outcome with this name; undefined for any other value. */
export function recoverableOutcome(value: unknown): RecoverableOutcome | undefined {
  return recoverableOutcomes.find((known) => known === value);
}

/** The deliveries to re-send: those with one outcome that ended in a time range. */
export interface RecoveryFilter {
  /** How the deliveries ended. */
  readonly outcome: RecoverableOutcome;
  /** Start of the range, inclusive. */
  readonly since: Instant;
  /** End of the range, exclusive. */
  readonly until: Instant;
  /** One trigger or event type; null for all. */
  readonly trigger: string | null;
  /** How the last attempt was answered, as `answeredAs` reads it. Absent for all, and in those of earlier versions. */
  readonly status?: string;
}

/**
 * A bulk redelivery: works through the deliveries of its configurations, oldest end first, a few at a time, so that new
 * deliveries are not delayed. Each step stores its progress, so it continues after a crash, and nothing is requested twice.
 */
export interface Recovery extends RecoveryFilter {
  readonly id: string;
  readonly workspaceId: string;
  /** The remaining configurations, the current one first. */
  readonly configurations: readonly string[];
  /** End and sequence of the last processed delivery of the current configuration; null before the first. */
  readonly reached: readonly [at: Instant, sequence: number] | null;
  /** The same for earlier configurations whose queues were full; those not begun are absent. */
  readonly setAside?: Readonly<Record<string, Exclude<Recovery['reached'], null>>>;
  /** The approximate number of deliveries at the start: counted up to a limit. */
  readonly total: number;
  /** The number of redeliveries requested so far. */
  readonly redelivered: number;
  readonly state: 'running' | 'done' | 'cancelled';
  readonly createdAt: Instant;
  /** Null while running. */
  readonly finishedAt: Instant | null;
}

export const recoveries = table<Recovery>('notification_recoveries', ({ id }) => [id], {
  running: { version: 1, key: ({ state, id }): Key | undefined => (state === 'running' ? [id] : undefined) },
  by_workspace: { version: 1, key: ({ workspaceId, createdAt, id }) => [workspaceId, createdAt, id] },
});

/** The recovery with this configuration as the current one; each continues from its progress. */
export function turnedTo(recovery: Recovery, configurationId: string): Recovery {
  const [present, ...others] = recovery.configurations;
  if (present === undefined || present === configurationId) return recovery;
  const { reached, setAside = {} } = recovery;
  const kept = reached === null ? setAside : { ...setAside, [present]: reached };
  const configurations = [...others.filter((id) => id !== configurationId), present];
  return withPresent({ ...recovery, configurations, setAside: kept }, configurationId);
}

/** The recovery after its current configuration is finished. */
export function withoutCurrent(recovery: Recovery): Recovery {
  const [, next, ...configurations] = recovery.configurations;
  if (next === undefined) return { ...recovery, configurations: [], reached: null };
  return withPresent({ ...recovery, configurations }, next);
}

function withPresent(recovery: Recovery, configurationId: string): Recovery {
  const { [configurationId]: reached = null, ...setAside } = recovery.setAside ?? {};
  return { ...recovery, configurations: [configurationId, ...recovery.configurations], reached, setAside };
}

/** Why the time range is invalid; undefined when it is valid. */
export function spanFault(since: Instant, until: Instant): InvalidParameter | undefined {
  if (Number.isFinite(since) && Number.isFinite(until) && since <= until) return undefined;
  const message = 'since and until must be times, and since must be earlier than until';
  return { type: 'invalid_parameter', parameter: 'since', message };
}
