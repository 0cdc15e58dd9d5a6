/*
 * All operations and background loops, loaded together by `load-operations.ts`. The build lets the main entry export functions that load
 * them in place of the operations that the areas export.
 */

import type { Api } from './api/index.js';
import { policyBindings, roleBindings, tokenBindings } from './operations/access/access-bindings.js';
import { tokenExpiryLoop } from './operations/access/tokens/token-expiry-loop.js';
import {
  actionBindings,
  allocationCommandBindings,
  fileBindings,
  nodeCommandBindings,
} from './operations/allocations/allocation-command-bindings.js';
import type { Bindings } from './operations/binding.js';
import type { BackgroundLoop } from './operations/context/engine-context.js';
import { deploymentActionBindings } from './operations/deployments/deployment-bindings.js';
import { deploymentLoops } from './operations/deployments/index.js';
import { clusterBindings } from './operations/events/cluster-bindings.js';
import { functionBindings } from './operations/functions/function-bindings.js';
import {
  allocationBindings,
  deploymentBindings,
  evaluationBindings,
  jobBindings,
  planBindings,
  poolJobBindings,
  scalingBindings,
} from './operations/jobs/job-bindings.js';
import { maintenanceBindings } from './operations/maintenance/collect-garbage.js';
import { maintenanceLoops } from './operations/maintenance/index.js';
import { namespaceBindings } from './operations/namespaces/namespace-bindings.js';
import { commandRelayLoop } from './operations/node-commands/command-relay-loop.js';
import { nodeLoops } from './operations/nodes/index.js';
import {
  nodeActionBindings,
  nodeMetadataBindings,
  nodePoolBindings,
  schedulerBindings,
} from './operations/nodes/node-bindings.js';
import {
  deliveryBindings,
  notificationBindings,
} from './operations/notifications/configurations/notification-bindings.js';
import {
  eventBindings,
  eventTypeBindings,
  recoveryBindings,
  userBindings,
  workspaceBindings,
} from './operations/notifications/events/event-bindings.js';
import { notificationLoops } from './operations/notifications/loops.js';
import {
  accountBindings,
  organizationBindings,
  workspaceReadBindings,
} from './operations/notifications/workspaces/organization-bindings.js';
import { periodicLoops } from './operations/periodic/index.js';
import { periodicBindings } from './operations/periodic/periodic-bindings.js';
import { agentBindings, nodeBindings } from './operations/scheduling/agent-bindings.js';
import { schedulingLoops } from './operations/scheduling/index.js';
import { searchBindings } from './operations/search/search.js';
import { allocationServiceBindings, jobServiceBindings, serviceBindings } from './operations/services/read-services.js';
import { systemBindings } from './operations/store/system-bindings.js';
import { variableLockLoop } from './operations/variables/lock-loop.js';
import { variableBindings } from './operations/variables/variable-bindings.js';

export * from './operations/access/index.js';
export * from './operations/deployments/index.js';
export * from './operations/jobs/index.js';
export * from './operations/maintenance/index.js';
export * from './operations/namespaces/index.js';
export * from './operations/nodes/index.js';
export * from './operations/notifications/index.js';
export * from './operations/periodic/index.js';
export * from './operations/scheduling/index.js';
export * from './operations/store/index.js';
export * from './operations/variables/index.js';
/** The operation of every call of the interface. */
export const bindings: { readonly [A in keyof Api]: Bindings<Api[A]> } = {
  jobs: { ...jobBindings, ...planBindings, ...periodicBindings, ...actionBindings, ...jobServiceBindings },
  functions: functionBindings,
  evaluations: evaluationBindings,
  allocations: { ...allocationBindings, ...allocationCommandBindings, ...allocationServiceBindings },
  services: serviceBindings,
  files: fileBindings,
  deployments: { ...deploymentBindings, ...deploymentActionBindings },
  nodes: { ...nodeBindings, ...nodeActionBindings, ...nodeMetadataBindings, ...nodeCommandBindings },
  agents: agentBindings,
  nodePools: { ...nodePoolBindings, ...poolJobBindings },
  scheduler: schedulerBindings,
  maintenance: maintenanceBindings,
  namespaces: namespaceBindings,
  cluster: clusterBindings,
  variables: variableBindings,
  policies: policyBindings,
  roles: roleBindings,
  tokens: tokenBindings,
  search: searchBindings,
  scaling: scalingBindings,
  notifications: notificationBindings,
  deliveries: deliveryBindings,
  events: eventBindings,
  recoveries: recoveryBindings,
  eventTypes: eventTypeBindings,
  organizations: organizationBindings,
  workspaces: { ...workspaceBindings, ...workspaceReadBindings },
  account: accountBindings,
  users: userBindings,
  system: systemBindings,
};

/** The background loops of every area. */
export const loops: readonly BackgroundLoop[] = [
  ...notificationLoops,
  ...schedulingLoops,
  ...periodicLoops,
  ...nodeLoops,
  ...deploymentLoops,
  ...maintenanceLoops,
  tokenExpiryLoop,
  variableLockLoop,
  commandRelayLoop,
];

export { transact } from './transaction.js';
