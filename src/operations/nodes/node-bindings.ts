import type { nodeActionCalls } from '../../api/calls/node-calls.js';
import type { nodeMetadataCalls } from '../../api/calls/node-metadata-calls.js';
import type { nodePoolCalls } from '../../api/calls/node-pool-calls.js';
import type { schedulerCalls } from '../../api/calls/scheduler-calls.js';
import { allocationDocument } from '../../scheduler/allocation-document.js';
import type { Bindings } from '../binding.js';
import { drainNode } from './drain-node.js';
import { evaluateNode } from './evaluate-node.js';
import { applyNodeMetadata, readNodeMetadata } from './node-metadata.js';
import { listNodePoolNodes, listNodePools, putNodePool, readNodePool, removeNodePool } from './node-pools.js';
import { purgeNode } from './purge-node.js';
import { listNodeAllocations } from './read-node-allocations.js';
import { readSchedulerConfiguration, setSchedulerConfiguration } from './scheduler-configuration.js';
import { setNodeEligibility } from './set-node-eligibility.js';

/** The operations of the calls that change nodes. */
export const nodeActionBindings: Bindings<typeof nodeActionCalls> = {
  allocations: (context, caller, input, { waiting }) =>
    listNodeAllocations(context, caller, input, waiting).map(({ index, value }) => ({
      index,
      value: value.map(({ allocation, job }) => ({ document: allocationDocument(allocation.record), job })),
    })),
  setEligibility: (context, caller, { nodeId, eligibility = '' }) =>
    setNodeEligibility(context, caller, { nodeId, eligibility }),
  drain: (context, caller, { spec, ...input }) =>
    drainNode(context, caller, {
      ...input,
      spec:
        spec === undefined ? null : { Deadline: spec.Deadline ?? 0, IgnoreSystemJobs: spec.IgnoreSystemJobs === true },
    }),
  evaluate: (context, caller, input) => evaluateNode(context, caller, input),
  purge: (context, caller, input) => purgeNode(context, caller, input),
};

/** The operations of the calls of nodes' meta. */
export const nodeMetadataBindings: Bindings<typeof nodeMetadataCalls> = {
  readMeta: readNodeMetadata,
  applyMeta: (context, caller, { nodeId, changes }) =>
    applyNodeMetadata(context, caller, { changes, ...(nodeId === undefined ? {} : { nodeId }) }),
};

/** The operations of the calls of node pools. */
export const nodePoolBindings: Bindings<typeof nodePoolCalls> = {
  list: (context, caller, input, { waiting }) => listNodePools(context, caller, input, waiting),
  read: (context, caller, input, { waiting }) => readNodePool(context, caller, input, waiting),
  nodes: (context, caller, input, { waiting }) => listNodePoolNodes(context, caller, input, waiting),
  put: (context, caller, input) => putNodePool(context, caller, input),
  putNamed: (context, caller, input) => putNodePool(context, caller, input),
  remove: (context, caller, input) => removeNodePool(context, caller, input),
};

/** The operations of the calls of the scheduler's configuration. */
export const schedulerBindings: Bindings<typeof schedulerCalls> = {
  readConfiguration: (context, caller, _input, { waiting }) => readSchedulerConfiguration(context, caller, waiting),
  setConfiguration: (context, caller, { checkIndex, region: _region, ...configuration }) =>
    setSchedulerConfiguration(context, caller, {
      configuration,
      ...(checkIndex === undefined ? {} : { checkIndex }),
    }),
};
