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
export {
  applyNodeMetadata,
  type ChangedNode,
  type ChangeNodeError,
  type DrainNodeInput,
  drainNode,
  type EvaluatedNode,
  evaluateNode,
  listNodeAllocations,
  listNodePoolNodes,
  listNodePools,
  type NodeMetadataError,
  type NodePoolInput,
  purgeNode,
  putNodePool,
  readNodeMetadata,
  readNodePool,
  readSchedulerConfiguration,
  removeNodePool,
  type SchedulerConfigurationInput,
  type SetNodeEligibilityInput,
  setNodeEligibility,
  setSchedulerConfiguration,
} from '../operations/nodes/index.js';
export {
  heartbeatNode,
  type ListNodesInput,
  leaveNode,
  listNodes,
  listNodeWork,
  type NodeClaimant,
  readNode,
  registerNode,
  reportAllocations,
} from '../operations/scheduling/index.js';
export * from '../scheduler/index.js';
export type { ReadNodePool } from '../scheduler/node-pool.js';
export type { NodePoolError, NodePoolNotFound } from '../scheduler/nodes/check-node-pool.js';
export type { DrainSpec } from '../scheduler/nodes/drain.js';
export type { NodeNotFound, NodeRefused } from '../scheduler/nodes/node-errors.js';
export type { DynamicMeta, NodeMetadata } from '../scheduler/nodes/node-metadata.js';
export type { DeploymentUpdate } from '../scheduler/reconcile/intents.js';
export type { VariableName, VariableRead } from '../templates/index.js';
