import { policies, roles } from './access/policy-record.js';
import { oneTimeTokens, sessions, tokens } from './access/tokens.js';
import { nodeConnections, relayMessages, relaySessions } from './agent/link/relay.js';
import type { Topic } from './events/changes.js';
import { earlierRecords, noticeBatches } from './events/event-records.js';
import { declarations, schedules } from './functions/declaration.js';
import { functionReports } from './functions/reports.js';
import {
  batches,
  functionCounts,
  logs,
  pauses,
  runKeys,
  runs,
  runWithoutProcess,
  steps,
  values,
} from './functions/run.js';
import { jobRestarts } from './jobs/changes/job-restart.js';
import { jobSubmissions } from './jobs/changes/submissions.js';
import { jobs, jobVersions } from './jobs/job-record.js';
import { dispatchRates, namespaces, quotaUsages } from './jobs/namespaces/namespace.js';
import { periodicLaunches } from './jobs/periodic/periodic-launch.js';
import { endedRuns, jobRuns } from './jobs/runs/job-run.js';
import { scalingEvents } from './jobs/scaling/scaling-records.js';
import { jobStubs, jobSummaries } from './jobs/status/job-summary.js';
import { configurations, configurationWithoutSecrets } from './notifications/configurations/configuration.js';
import { deliveries } from './notifications/delivery/delivery.js';
import { recoveries } from './notifications/delivery/recovery.js';
import { events } from './notifications/events/event.js';
import { eventTypes } from './notifications/events/event-type.js';
import { hookHolds, queues } from './notifications/queue/queue-record.js';
import { users, userWithoutAddress, workspaces } from './notifications/workspace.js';
import { storedRates } from './queue/limits.js';
import { processes, timelines } from './queue/process.js';
import { allocations } from './scheduler/allocation.js';
import { blockedRequirements } from './scheduler/blocked/blocked-requirement.js';
import { deployments } from './scheduler/deployment/deployment.js';
import { evaluations } from './scheduler/evaluation.js';
import { nodeHeartbeats, nodes } from './scheduler/node.js';
import { nodePools } from './scheduler/node-pool.js';
import { capacitySignals, nodeAssignments, nodeUsages } from './scheduler/node-tables.js';
import { nodeMetadata } from './scheduler/nodes/node-metadata.js';
import { nodeOwners } from './scheduler/nodes/node-owner.js';
import { schedulerConfigurations } from './scheduler/scheduler-configuration.js';
import { serviceRegistrations } from './services/service-registration.js';
import type { Table } from './shared/table.js';
import { variables } from './variables/variable.js';

/** What the program does with a table, beside storing it. */
interface TableTraits<R> {
  /** Its changes end the waits of blocking queries. */
  readonly watched?: true;
  /** Its changes are events of the stream, with this topic. */
  readonly topic?: Topic;
  /** Exports have its records, as they are or as this function returns them: without secrets. */
  readonly exported?: true | ((record: R) => unknown);
}

/** A table with its traits. */
export interface DescribedTable extends TableTraits<unknown> {
  readonly table: Table<unknown>;
}

function described<R>(table: Table<R>, traits: TableTraits<R>): DescribedTable {
  return { table, ...traits } as DescribedTable;
}

const watched = true;
const exported = true;

/**
 * Every table of the store, in the order of an export. A new one is declared beside its record and gets a line here. Left out of
 * exports: tokens, sessions, variables, sources of jobs, waits and rates of chat hooks (they are under digests of URLs, which an export does not have),
 * and what processes report each other through the store.
 */
export const tables: readonly DescribedTable[] = [
  described(namespaces, { watched, exported }),
  described(quotaUsages, { exported }),
  described(dispatchRates, { exported }),
  described(periodicLaunches, { watched, exported }),
  described(jobs, { watched, exported, topic: 'Job' }),
  described(jobVersions, { watched, exported }),
  described(jobSubmissions, { watched }),
  described(scalingEvents, { watched, exported }),
  described(jobSummaries, { watched, exported }),
  described(jobStubs, { watched, exported }),
  described(jobRuns, { watched, exported }),
  described(endedRuns, { watched, exported }),
  described(jobRestarts, { watched, exported }),
  described(serviceRegistrations, { watched, exported, topic: 'Service' }),
  described(tokens, { watched, topic: 'ACLToken' }),
  described(oneTimeTokens, { watched }),
  described(sessions, {}),
  described(policies, { watched, exported, topic: 'ACLPolicy' }),
  described(roles, { watched, exported, topic: 'ACLRole' }),
  described(variables, { watched }),
  described(nodeAssignments, { watched, exported }),
  described(allocations, { watched, exported, topic: 'Allocation' }),
  described(nodePools, { watched, exported, topic: 'NodePool' }),
  described(evaluations, { watched, exported, topic: 'Evaluation' }),
  described(capacitySignals, { watched, exported }),
  described(nodeMetadata, { watched, exported }),
  described(blockedRequirements, { watched, exported }),
  described(nodeUsages, { watched, exported }),
  described(deployments, { watched, exported, topic: 'Deployment' }),
  described(nodes, { watched, exported, topic: 'Node' }),
  described(nodeHeartbeats, { watched, exported }),
  described(nodeOwners, {}),
  described(nodeConnections, {}),
  described(relaySessions, {}),
  described(relayMessages, {}),
  described(schedulerConfigurations, { watched, exported }),
  described(deliveries, { watched, exported }),
  described(recoveries, { watched, exported }),
  described(configurations, { watched, exported: configurationWithoutSecrets }),
  described(timelines, { exported }),
  described(processes, {}),
  described(storedRates, {}),
  described(queues, { watched, exported }),
  described(hookHolds, {}),
  described(workspaces, { watched, exported }),
  described(events, { watched, exported }),
  described(eventTypes, { exported }),
  described(users, { watched, exported: userWithoutAddress }),
  described(runs, { watched, exported: runWithoutProcess }),
  described(values, { exported }),
  described(steps, { watched, exported }),
  described(logs, { exported }),
  described(batches, { exported }),
  described(runKeys, { exported }),
  described(functionCounts, { watched, exported }),
  described(declarations, { watched, exported }),
  described(pauses, { watched, exported }),
  described(schedules, { watched, exported }),
  described(functionReports, { exported }),
  described(noticeBatches, { exported }),
  described(earlierRecords, { exported }),
];

export const watchedTables: readonly Table<unknown>[] = tables
  .filter((described) => described.watched === true)
  .map(({ table }) => table);

export const exportedTables: readonly DescribedTable[] = tables.filter((described) => described.exported !== undefined);
