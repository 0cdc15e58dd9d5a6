import { listNodes, type Node, readNode } from '../../../src/index.js';
import { booleanParameter, textParameter } from '../query.js';
import type { Route } from '../route.js';
import { readRoute } from './job-route.js';
import { listOf, nodeSchema } from './job-schemas.js';

/** The hosts that run allocations. */
export const nodeRoutes: readonly Route[] = [
  readRoute({
    path: '/v1/nodes',
    operation: 'listNodes',
    summary: 'The nodes, by ID',
    access: { type: 'management' },
    inNoNamespace: true,
    parameters: {
      prefix: textParameter('Only IDs that begin with this'),
      resources: booleanParameter('Add the resources of each node'),
      os: booleanParameter('Add the attribute os.name of each node'),
    },
    schema: () => listOf(nodeSchema),
    run: ({ engine, caller }, { values, waiting }) =>
      listNodes(engine, caller, { prefix: values.prefix ?? '' }, waiting),
    print: (rows, { values }) =>
      JSON.stringify(rows.map(({ record }) => nodeStub(record, values.resources ?? false, values.os ?? false))),
  }),
  readRoute({
    path: '/v1/node/{node_id}',
    operation: 'readNode',
    summary: 'One node',
    access: { type: 'management' },
    inNoNamespace: true,
    parameters: {},
    schema: nodeSchema,
    run: ({ engine, caller }, { id, waiting }) => readNode(engine, caller, { nodeId: id }, waiting),
    print: (row) => row && JSON.stringify(nodeDocument(row.record)),
    absent: 'node not found',
  }),
];

/** A node as lists show it (job interface, nodes). */
function nodeStub(node: Node, resources: boolean, os: boolean): Readonly<Record<string, unknown>> {
  return {
    Address: node.HTTPAddr.replace(/:[0-9]+$/, ''),
    ID: node.ID,
    Datacenter: node.Datacenter,
    Name: node.Name,
    NodePool: node.NodePool,
    NodeClass: node.NodeClass,
    Version: node.Attributes['nomad.version'] ?? '',
    Drain: false,
    SchedulingEligibility: node.SchedulingEligibility,
    Status: node.Status,
    StatusDescription: node.StatusDescription,
    Drivers: node.Drivers,
    HostVolumes: null,
    LastDrain: null,
    CreateIndex: node.CreateIndex,
    ModifyIndex: node.ModifyIndex,
    ...(resources ? { NodeResources: node.NodeResources, ReservedResources: node.ReservedResources } : {}),
    ...(os ? { Attributes: { 'os.name': node.Attributes['os.name'] ?? '' } } : {}),
  };
}

/** The whole node, with the members that this server does not use in their empty form. */
function nodeDocument(node: Node): Readonly<Record<string, unknown>> {
  return {
    SecretID: '',
    TLSEnabled: false,
    Links: null,
    ComputedClass: '',
    DrainStrategy: null,
    Drain: false,
    Events: null,
    CSIControllerPlugins: null,
    CSINodePlugins: null,
    HostVolumes: null,
    HostNetworks: null,
    LastDrain: null,
    ...node,
  };
}
