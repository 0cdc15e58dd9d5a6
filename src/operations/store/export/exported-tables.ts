import { policies } from '../../../access/policy-record.js';
import { roles } from '../../../access/role-record.js';
import { earlierRecords, noticeBatches } from '../../../events/event-records.js';
import { declarations, schedules } from '../../../functions/declaration.js';
import { functionReports } from '../../../functions/reports.js';
import {
  afterAttempt,
  batches,
  functionCounts,
  logs,
  pauses,
  runKeys,
  runs,
  type StoredRun,
  steps,
  values,
} from '../../../functions/run.js';
import { jobs, jobVersions } from '../../../jobs/job-record.js';
import { namespaces } from '../../../jobs/namespaces/namespace.js';
import { dispatchRates, quotaUsages } from '../../../jobs/namespaces/quota-usage.js';
import { periodicLaunches } from '../../../jobs/periodic/periodic-launch.js';
import { jobRuns } from '../../../jobs/runs/job-run.js';
import { scalingEvents } from '../../../jobs/scaling/scaling-event.js';
import { jobStubs } from '../../../jobs/status/job-stub.js';
import { jobSummaries } from '../../../jobs/status/job-summary-record.js';
import { configurations, type NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import { deliveries } from '../../../notifications/delivery/delivery.js';
import { recoveries } from '../../../notifications/delivery/recovery.js';
import { events } from '../../../notifications/events/event.js';
import { eventTypes } from '../../../notifications/events/event-type.js';
import { queues } from '../../../notifications/queue/queue-record.js';
import { type User, users } from '../../../notifications/user.js';
import { workspaces } from '../../../notifications/workspace.js';
import { timelines } from '../../../queue/timeline.js';
import { allocations } from '../../../scheduler/allocation.js';
import { blockedRequirements } from '../../../scheduler/blocked/blocked-requirement.js';
import { capacitySignals } from '../../../scheduler/capacity-signal.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import { evaluations } from '../../../scheduler/evaluation.js';
import { nodeHeartbeats, nodes } from '../../../scheduler/node.js';
import { nodeAssignments } from '../../../scheduler/node-assignment.js';
import { nodePools } from '../../../scheduler/node-pool.js';
import { nodeUsages } from '../../../scheduler/node-usage.js';
import { nodeMetadata } from '../../../scheduler/nodes/node-metadata.js';
import { schedulerConfigurations } from '../../../scheduler/scheduler-configuration.js';
import { serviceRegistrations } from '../../../services/service-registration.js';
import type { Table } from '../../../shared/table.js';

/** A table of an export, and the exported form of its records. */
export interface ExportedTable {
  readonly table: Table<unknown>;
  /** The record as it is exported, without its secrets; absent when all are exported as they are. */
  readonly exported?: (record: unknown) => unknown;
}

/** A host name that never resolves. */
const nowhere = 'left-out.invalid';

/** The configuration without its URL, signing secrets, headers, certificates and last response. */
function configurationWithoutSecrets({ options, ...record }: NotificationConfiguration): NotificationConfiguration {
  return {
    ...record,
    url: record.url && { plain: `https://${nowhere}/${record.id}` },
    token: null,
    retiredTokens: [],
    response: null,
    ...(options === undefined ? {} : { options: { ...options, secrets: null } }),
  };
}

/** The processes that run functions are not exported: what they had under way is queued, as if they had been stopped. */
function runWithoutProcess(run: StoredRun): StoredRun {
  if (run.holder === null) return run;
  return afterAttempt(run, { type: 'handed_back' }, run.startedAt ?? run.enqueuedAt);
}

const userWithoutAddress = (user: User): User => ({ ...user, email: `${user.id}@${nowhere}` });

/**
 * The tables of an export, in the order in which it has them. Left out: tokens and one-time tokens, variables, the sources of
 * jobs (`job_submissions`), the note of an interrupted encryption (`replaced_secrets`), waits and rates of chat hooks (`notification_hook_holds`, `queue_rates`: by digests of URLs that an export does not have), and what
 * processes report each other through the store.
 */
export const exportedTables: readonly ExportedTable[] = [
  { table: namespaces as Table<unknown> },
  { table: quotaUsages as Table<unknown> },
  { table: dispatchRates as Table<unknown> },
  { table: periodicLaunches as Table<unknown> },
  { table: jobs as Table<unknown> },
  { table: jobVersions as Table<unknown> },
  { table: scalingEvents as Table<unknown> },
  { table: jobSummaries as Table<unknown> },
  { table: jobStubs as Table<unknown> },
  { table: jobRuns as Table<unknown> },
  { table: serviceRegistrations as Table<unknown> },
  { table: policies as Table<unknown> },
  { table: roles as Table<unknown> },
  { table: nodeAssignments as Table<unknown> },
  { table: allocations as Table<unknown> },
  { table: nodePools as Table<unknown> },
  { table: evaluations as Table<unknown> },
  { table: capacitySignals as Table<unknown> },
  { table: nodeMetadata as Table<unknown> },
  { table: blockedRequirements as Table<unknown> },
  { table: nodeUsages as Table<unknown> },
  { table: deployments as Table<unknown> },
  { table: nodes as Table<unknown> },
  { table: nodeHeartbeats as Table<unknown> },
  { table: schedulerConfigurations as Table<unknown> },
  { table: deliveries as Table<unknown> },
  { table: recoveries as Table<unknown> },
  {
    table: configurations as Table<unknown>,
    exported: configurationWithoutSecrets as (record: unknown) => unknown,
  },
  { table: timelines as Table<unknown> },
  { table: queues as Table<unknown> },
  { table: workspaces as Table<unknown> },
  { table: events as Table<unknown> },
  { table: eventTypes as Table<unknown> },
  { table: users as Table<unknown>, exported: userWithoutAddress as (record: unknown) => unknown },
  { table: runs as Table<unknown>, exported: runWithoutProcess as (record: unknown) => unknown },
  { table: values as Table<unknown> },
  { table: steps as Table<unknown> },
  { table: logs as Table<unknown> },
  { table: batches as Table<unknown> },
  { table: runKeys as Table<unknown> },
  { table: functionCounts as Table<unknown> },
  { table: declarations as Table<unknown> },
  { table: pauses as Table<unknown> },
  { table: schedules as Table<unknown> },
  { table: functionReports as Table<unknown> },
  { table: noticeBatches as Table<unknown> },
  { table: earlierRecords as Table<unknown> },
];
