/** Nodes, node pools, scheduling, and the link of agents. For services that embed the engine, and for runners. */

export { pendingTask } from '../agent/task/transition-task-state.js';
export { type AgentPorts, type AgentPortsOptions, agentLink, agentPorts } from '../agent-link.js';
export type { ChangedNode } from '../operations/nodes/change-node.js';
export type { EvaluatedNode } from '../operations/nodes/evaluate-node.js';
export type { NodePoolError, NodePoolNotFound } from '../scheduler/nodes/check-node-pool.js';
export type { NodeNotFound, NodeRefused } from '../scheduler/nodes/node-errors.js';
