/*
 * The scheduler's public part: its records, and its decisions as pure functions.
 */

export type { ScalarType, StructType, ValueType } from '../shared/schema.js';
export type {
  AllocatedDevice,
  AllocatedNetwork,
  AllocatedPort,
  AllocatedResources,
  AllocatedTaskResources,
} from './allocated-resources.js';
export type {
  Allocation,
  AllocationDeploymentStatus,
  AllocationNetworkStatus,
  AllocationStateChange,
  ClientStatus,
  DesiredStatus,
  DesiredTransition,
  RescheduleEvent,
  RescheduleTracker,
  TaskEvent,
  TaskState,
} from './allocation.js';
export type { AllocationMetric, ExhaustedResources, NodeScore } from './allocation-metric.js';
export type { AllocationListStub } from './allocation-views.js';
export { type Cluster, clusterFrom } from './cluster/cluster.js';
export type { Deployment, DeploymentState, DeploymentStatus } from './deployment/deployment.js';
export type {
  DesiredUpdates,
  Evaluation,
  EvaluationStatus,
  EvaluationTrigger,
  PlanAnnotations,
} from './evaluation.js';
export {
  type ExplainOptions,
  explainPlacement,
  type GroupExplanation,
  type NodeExplanation,
} from './explain/explain-placement.js';
export type { PlacementObstacle, RemedialChange } from './explain/obstacles.js';
export type {
  DeviceAttribute,
  DrainMetadata,
  DrainStrategy,
  Node,
  NodeAddress,
  NodeDeviceGroup,
  NodeDriver,
  NodeEvent,
  NodeHostVolume,
  NodeInterface,
  NodeNetwork,
  NodeStatus,
} from './node.js';
export type { NodePool, NodePoolSchedulerConfiguration, ReadNodePool } from './node-pool.js';
export type { DrainSpec } from './nodes/decide-drain.js';
export type { DynamicMeta, NodeMetadata } from './nodes/node-metadata.js';
export type { SchedulingResult } from './plan/outcome.js';
export type { DeploymentUpdate } from './reconcile/intents.js';
export type { SchedulingIds } from './reconcile/situation.js';
export { recordSchemas } from './record-schemas.js';
export type { EvaluationStub } from './related-evaluations.js';
export { schedule, schedulingSteps } from './schedule.js';
export type { PreemptionConfig, SchedulerAlgorithm, SchedulerConfiguration } from './scheduler-configuration.js';
export { simulate } from './simulate/simulate.js';
export type {
  SimulatedAgents,
  SimulatedCluster,
  SimulatedEvent,
  Simulation,
  TimelineEntry,
} from './simulate/simulation.js';
export type { SchedulingSnapshot } from './snapshot.js';
