import { flag, float, integer, listOf, mapOf, nullable, struct, text, unsigned } from '../../filter/schema.js';

const dns = struct({ Servers: listOf(text), Searches: listOf(text), Options: listOf(text) });

const port = struct({ Label: text, Value: integer, To: integer, HostNetwork: text, IgnoreCollision: flag });

export const network = struct({
  Mode: text,
  Device: text,
  CIDR: text,
  IP: text,
  Hostname: text,
  MBits: integer,
  DNS: nullable(dns),
  ReservedPorts: listOf(port),
  DynamicPorts: listOf(port),
  CNI: nullable(struct({ Args: mapOf(text) })),
});

/** Members that the job interface names, and no others. */
export const networkStatus = struct({ InterfaceName: text, Address: text, AddressIPv6: text, DNS: nullable(dns) });

const lifecycle = struct({ Hook: text, Sidecar: flag });

/** The resources assigned to an allocation on its node. */
export const allocatedResources = struct({
  Tasks: mapOf(
    struct({
      Cpu: struct({ CpuShares: integer, ReservedCores: listOf(integer) }),
      Memory: struct({ MemoryMB: integer, MemoryMaxMB: integer }),
      Networks: listOf(network),
      Devices: listOf(struct({ Vendor: text, Type: text, Name: text, DeviceIDs: listOf(text) })),
    }),
  ),
  TaskLifecycles: mapOf(nullable(lifecycle)),
  Shared: struct({
    Networks: listOf(network),
    DiskMB: integer,
    Ports: listOf(struct({ Label: text, Value: integer, To: integer, HostIP: text, IgnoreCollision: flag })),
  }),
});

/** The same in the form in which jobs request them. */
export const resourceSum = struct({
  CPU: integer,
  Cores: integer,
  MemoryMB: integer,
  MemoryMaxMB: integer,
  DiskMB: integer,
  IOPS: integer,
  Networks: listOf(network),
  Devices: listOf(struct({ Name: text, Count: unsigned })),
  NUMA: nullable(struct({ Affinity: text, Devices: listOf(text) })),
  SecretsMB: integer,
});

/** Why nodes were chosen or rejected. */
export const metricSchema = struct({
  NodesEvaluated: integer,
  NodesFiltered: integer,
  NodesInPool: integer,
  NodePool: text,
  NodesAvailable: mapOf(integer),
  ClassFiltered: mapOf(integer),
  ConstraintFiltered: mapOf(integer),
  NodesExhausted: integer,
  ClassExhausted: mapOf(integer),
  DimensionExhausted: mapOf(integer),
  QuotaExhausted: listOf(text),
  ResourcesExhausted: mapOf(struct({ CPU: integer, MemoryMB: integer, MemoryMaxMB: integer, DiskMB: integer })),
  Scores: mapOf(float),
  ScoreMetaData: listOf(struct({ NodeID: text, Scores: mapOf(float), NormScore: float })),
  AllocationTime: integer,
  CoalescedFailures: integer,
});
