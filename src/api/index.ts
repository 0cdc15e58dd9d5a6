import { policyCalls, roleCalls, tokenCalls } from './access-calls.js';
import { actionCalls } from './action-calls.js';
import { agentCalls } from './agent-calls.js';
import { allocationCommandCalls } from './allocation-command-calls.js';
import type { Call } from './call.js';
import { clusterCalls } from './cluster-calls.js';
import { deploymentActionCalls } from './deployment-calls.js';
import { userCalls, workspaceCalls } from './directory-calls.js';
import { eventCalls, eventTypeCalls, recoveryCalls } from './event-calls.js';
import { fileCalls } from './file-calls.js';
import { jobCalls, poolJobCalls } from './job-calls/index.js';
import { jobControlCalls } from './job-control-calls.js';
import { maintenanceCalls } from './maintenance-calls.js';
import { namespaceCalls } from './namespace-calls.js';
import { nodeActionCalls, nodePoolCalls, schedulerCalls } from './node-calls.js';
import { nodeCommandCalls } from './node-command-calls.js';
import { nodeMetadataCalls } from './node-metadata-calls.js';
import { deliveryCalls, notificationCalls } from './notification-calls.js';
import { accountCalls, organizationCalls, workspaceReadCalls } from './organization-calls.js';
import { scalingCalls } from './scaling-calls.js';
import { allocationCalls, deploymentCalls, evaluationCalls, nodeCalls } from './scheduling-calls.js';
import { searchCalls } from './search-calls.js';
import { allocationServiceCalls, jobServiceCalls, serviceCalls } from './service-calls.js';
import { systemCalls } from './system-calls.js';
import { variableCalls } from './variable-calls.js';

/**
 * The call table: every call by area and name. The engine binds its operations to the names; the HTTP adapter matches
 * requests, clients build requests, and the OpenAPI document and the reference are generated from its rows.
 */
export const api = {
  jobs: { ...jobCalls, ...jobControlCalls, ...actionCalls, ...jobServiceCalls },
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
