/** Nodes, node pools, scheduling, and the link of agents. For services that embed the engine, and for runners. */

export type { ToldState, ToldStatus } from '../agent/allocation/client-status.js';
export type { AgentProcess } from '../agent/link/agent-process.js';
export type {
  CommandInput,
  CommandOutput,
  CommandPerformer,
  CommandRefused,
  NodeCommand,
  OutputStream,
  StreamPosition,
} from '../agent/link/node-command.js';
export type {
  AllocationReport,
  FailureOutput,
  NodeDescription,
  NodeReport,
  NodeWork,
  NodeWorkList,
  RegisteredNode,
  ReportOutcome,
} from '../agent/link/node-work.js';
export type { TaskVariables, TaskVariablesQuery } from '../agent/link/task-variables.js';
export { pendingTask } from '../agent/task/transition-task-state.js';
export { type AgentPorts, type AgentPortsOptions, agentLink, agentPorts } from '../agent-link.js';
export type { ChangedNode, ChangeNodeError } from '../operations/nodes/change-node.js';
export type { DrainNodeInput } from '../operations/nodes/drain-node.js';
export type { EvaluatedNode } from '../operations/nodes/evaluate-node.js';
export type { NodeMetadataError } from '../operations/nodes/node-metadata.js';
export type { NodePoolInput } from '../operations/nodes/node-pools.js';
export type { SchedulerConfigurationInput } from '../operations/nodes/scheduler-configuration.js';
export type { SetNodeEligibilityInput } from '../operations/nodes/set-node-eligibility.js';
export type { NodeClaimant } from '../operations/scheduling/node-ownership.js';
export type { ListNodesInput } from '../operations/scheduling/read-nodes.js';
export * from '../scheduler/index.js';
export type { ReadNodePool } from '../scheduler/node-pool.js';
export type { NodePoolError, NodePoolNotFound } from '../scheduler/nodes/check-node-pool.js';
export type { DrainSpec } from '../scheduler/nodes/drain.js';
export type { NodeNotFound, NodeRefused } from '../scheduler/nodes/node-errors.js';
export type { DynamicMeta, NodeMetadata } from '../scheduler/nodes/node-metadata.js';
export type { DeploymentUpdate } from '../scheduler/reconcile/intents.js';
export type { VariableName, VariableRead } from '../templates/index.js';
