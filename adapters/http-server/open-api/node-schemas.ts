import {
  anyObject,
  count,
  flag,
  integer,
  type JsonSchema,
  mapOf,
  number,
  objectSchema,
  orNull,
  strings,
  text,
  textMap,
  time,
  wholeObject,
} from './json-schema.js';

const driver = objectSchema({
  Attributes: textMap,
  Detected: flag,
  Healthy: flag,
  HealthDescription: text,
  UpdateTime: text,
});

const lastDrain = objectSchema({
  StartedAt: time,
  UpdatedAt: time,
  Status: { enum: ['draining', 'complete', 'canceled'] },
  AccessorID: text,
  Meta: orNull(textMap),
});

const drainStrategy = objectSchema({
  Deadline: { type: 'integer', description: 'Nanoseconds.' },
  IgnoreSystemJobs: flag,
  ForceDeadline: orNull(time),
  StartedAt: time,
});

const resources = objectSchema({
  Cpu: objectSchema({
    CpuShares: integer,
    TotalCpuCores: integer,
    ReservableCpuCores: { type: 'array', items: integer },
  }),
  Processors: anyObject,
  Memory: objectSchema({ MemoryMB: integer }),
  Disk: objectSchema({ DiskMB: integer }),
  Devices: orNull({ type: 'array', items: anyObject }),
  NodeNetworks: { type: 'array', items: anyObject },
  Networks: { type: 'array', items: anyObject },
  MinDynamicPort: integer,
  MaxDynamicPort: integer,
});

const reserved = objectSchema({
  Cpu: objectSchema({ CpuShares: integer, ReservedCpuCores: { type: 'array', items: integer } }),
  Memory: objectSchema({ MemoryMB: integer }),
  Disk: objectSchema({ DiskMB: integer }),
  Networks: objectSchema({ ReservedHostPorts: text }),
});

const common = {
  ID: text,
  Datacenter: text,
  Name: text,
  NodePool: text,
  NodeClass: text,
  Drain: flag,
  SchedulingEligibility: { enum: ['eligible', 'ineligible'] },
  Status: { enum: ['initializing', 'ready', 'down', 'disconnected'] },
  StatusDescription: text,
  Drivers: mapOf(driver),
  HostVolumes: mapOf(anyObject),
  LastDrain: orNull(lastDrain),
  CreateIndex: count,
  ModifyIndex: count,
};

const event = objectSchema({
  Message: text,
  Subsystem: text,
  Details: orNull(textMap),
  Timestamp: time,
  CreateIndex: count,
});

const node = {
  ...common,
  SecretID: { const: '', description: 'Never shown.' },
  HTTPAddr: text,
  TLSEnabled: flag,
  Attributes: textMap,
  Meta: textMap,
  Links: textMap,
  ComputedClass: text,
  CgroupParent: text,
  NodeResources: resources,
  ReservedResources: reserved,
  DrainStrategy: orNull(drainStrategy),
  StatusUpdatedAt: { type: 'integer', description: 'Seconds since 1970.' },
  Events: orNull({ type: 'array', items: event }),
  NodeMaxAllocs: count,
  LastMissedHeartbeatIndex: count,
  LastAllocUpdateIndex: count,
};

const stub = { ...common, Address: text, Version: text };

/** The documents of nodes, by the names that the interface gives them. */
export const nodeSchemas: Readonly<Record<string, JsonSchema>> = {
  NodeMetadata: wholeObject({ Meta: textMap, Dynamic: mapOf({ type: ['string', 'null'] }), Static: textMap }),
  Node: wholeObject(node),
  NodeListStub: {
    ...wholeObject(stub),
    properties: { ...stub, NodeResources: resources, ReservedResources: reserved, Attributes: textMap },
  },
};

const listOfObjects: JsonSchema = { type: 'array', items: anyObject };
const variableReads: JsonSchema = {
  type: 'array',
  items: objectSchema({ path: text, namespace: text }, ['path']),
};

/** The documents that agents and servers exchange, by the names that the interface gives them. */
export const agentSchemas: Readonly<Record<string, JsonSchema>> = {
  AgentNode: objectSchema(
    { ID: text, Name: text, Datacenter: text, NodePool: text, NodeResources: anyObject, Drivers: anyObject },
    ['ID', 'Name', 'Datacenter', 'NodePool', 'NodeResources', 'ReservedResources', 'Drivers'],
  ),
  AgentProcess: objectSchema({ instance: text, folder: text, boot: text }, ['instance']),
  AgentRegistered: objectSchema({ index: count, heartbeatTtl: count }, ['index', 'heartbeatTtl']),
  AgentHeard: objectSchema({ heartbeatTtl: count }, ['heartbeatTtl']),
  AgentWork: objectSchema(
    {
      index: count,
      complete: flag,
      work: { type: 'array', items: objectSchema({ allocation: anyObject, job: anyObject }, ['allocation']) },
      gone: strings,
      collected: flag,
      now: number,
    },
    ['index', 'complete', 'work', 'gone'],
  ),
  AgentVariablesQuery: objectSchema(
    { allocationId: text, task: text, variables: variableReads, prefixes: variableReads, known: orNull(text) },
    ['allocationId', 'task', 'variables', 'prefixes', 'known'],
  ),
  AgentVariables: objectSchema(
    {
      version: text,
      items: { type: 'array', items: orNull(anyObject) },
      lists: { type: 'array', items: listOfObjects },
    },
    ['version', 'items', 'lists'],
  ),
  AgentReports: {
    type: 'array',
    items: objectSchema(
      {
        allocationId: text,
        clientStatus: { enum: ['pending', 'running', 'complete', 'failed'] },
        clientDescription: text,
        taskStates: anyObject,
        healthy: orNull(flag),
      },
      ['allocationId', 'clientStatus', 'clientDescription', 'taskStates'],
    ),
  },
  AgentReported: objectSchema({ index: count, unknown: strings }, ['index', 'unknown']),
  AgentFrame: { type: 'string', contentEncoding: 'binary' },
};
