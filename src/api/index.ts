import type { Call } from './call.js';
import { policyCalls, roleCalls, tokenCalls } from './calls/access-calls.js';
import { actionCalls, allocationCommandCalls, fileCalls } from './calls/allocation-command-calls.js';
import { clusterCalls, maintenanceCalls, schedulerCalls } from './calls/cluster-calls.js';
import { eventCalls, eventTypeCalls, recoveryCalls } from './calls/event-calls.js';
import { functionCalls } from './calls/function-calls.js';
import { jobControlCalls } from './calls/job-calls/changes.js';
import { jobCalls, poolJobCalls } from './calls/job-calls/index.js';
import { namespaceCalls, nodePoolCalls } from './calls/namespace-calls.js';
import { nodeActionCalls, nodeCommandCalls, nodeMetadataCalls } from './calls/node-calls.js';
import { deliveryCalls, notificationCalls } from './calls/notification-calls.js';
import {
  accountCalls,
  organizationCalls,
  userCalls,
  workspaceCalls,
  workspaceReadCalls,
} from './calls/organization-calls.js';
import {
  allocationCalls,
  deploymentActionCalls,
  deploymentCalls,
  evaluationCalls,
  nodeCalls,
  scalingCalls,
} from './calls/scheduling-calls.js';
import {
  allocationServiceCalls,
  jobServiceCalls,
  searchCalls,
  serviceCalls,
  variableCalls,
} from './calls/service-calls.js';
import { agentCalls, systemCalls } from './calls/system-calls.js';

/**
 * The call table: every call by area and name. The engine binds its operations to the names; the HTTP adapter matches
 * requests, clients build requests, and the OpenAPI document and the reference are generated from its rows.
 */
export const api = {
  jobs: { ...jobCalls, ...jobControlCalls, ...actionCalls, ...jobServiceCalls },
  functions: functionCalls,
  evaluations: evaluationCalls,
  allocations: { ...allocationCalls, ...allocationCommandCalls, ...allocationServiceCalls },
  services: serviceCalls,
  files: fileCalls,
  deployments: { ...deploymentCalls, ...deploymentActionCalls },
  nodes: { ...nodeCalls, ...nodeActionCalls, ...nodeMetadataCalls, ...nodeCommandCalls },
  agents: agentCalls,
  nodePools: { ...nodePoolCalls, ...poolJobCalls },
  scheduler: schedulerCalls,
  maintenance: maintenanceCalls,
  namespaces: namespaceCalls,
  cluster: clusterCalls,
  variables: variableCalls,
  policies: policyCalls,
  roles: roleCalls,
  tokens: tokenCalls,
  search: searchCalls,
  scaling: scalingCalls,
  notifications: notificationCalls,
  deliveries: deliveryCalls,
  events: eventCalls,
  recoveries: recoveryCalls,
  eventTypes: eventTypeCalls,
  organizations: organizationCalls,
  workspaces: { ...workspaceCalls, ...workspaceReadCalls },
  account: accountCalls,
  users: userCalls,
  system: systemCalls,
} as const;

export type Api = typeof api;

/** A call with its full name, such as `jobs.register`. */
export interface NamedCall {
  readonly name: string;
  readonly area: string;
  readonly method: string;
  readonly call: Call;
}

/** Every call of the table, in its order. */
export function callsOf(table: Readonly<Record<string, Readonly<Record<string, Call>>>> = api): readonly NamedCall[] {
  return Object.entries(table).flatMap(([area, calls]) =>
    Object.entries(calls).map(([method, call]) => ({ name: `${area}.${method}`, area, method, call })),
  );
}
