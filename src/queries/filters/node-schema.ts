import {
  flag,
  float,
  integer,
  listOf,
  mapOf,
  nullable,
  storedAs,
  struct,
  text,
  time,
  unsigned,
} from '../../filter/schema.js';
import { network } from './job-schema.js';

const deviceAttribute = struct({
  Float: nullable(float),
  Int: nullable(integer),
  String: nullable(text),
  Bool: nullable(flag),
  Unit: text,
});

const nodeResources = struct({
  Cpu: struct({ CpuShares: integer, TotalCpuCores: unsigned, ReservableCpuCores: listOf(unsigned) }),
  Memory: struct({ MemoryMB: integer }),
  Disk: struct({ DiskMB: integer }),
  Networks: listOf(network),
  NodeNetworks: listOf(
    struct({
      Mode: text,
      Device: text,
      MacAddress: text,
      Speed: integer,
      Addresses: listOf(struct({ Family: text, Alias: text, Address: text, ReservedPorts: text, Gateway: text })),
    }),
  ),
  Devices: listOf(
    struct({
      Vendor: text,
      Type: text,
      Name: text,
      Instances: listOf(struct({ ID: text, Healthy: flag, HealthDescription: text })),
      Attributes: mapOf(nullable(deviceAttribute)),
    }),
  ),
  MinDynamicPort: integer,
  MaxDynamicPort: integer,
});

const reservedResources = struct({
  Cpu: struct({ CpuShares: unsigned, ReservedCpuCores: listOf(unsigned) }),
  Memory: struct({ MemoryMB: unsigned }),
  Disk: struct({ DiskMB: unsigned }),
  Networks: struct({ ReservedHostPorts: text }),
});

const driver = struct({
  Attributes: mapOf(text),
  Detected: flag,
  Healthy: flag,
  HealthDescription: text,
  UpdateTime: time,
});

/** Structs that Nomad embeds: printed inline, but with a separate name in filters. */
const drainStrategy = struct({
  DrainSpec: storedAs({ inline: true }, struct({ Deadline: integer, IgnoreSystemJobs: flag })),
  ForceDeadline: time,
  StartedAt: time,
});

const csiPlugin = struct({
  PluginID: text,
  AllocID: text,
  Healthy: flag,
  HealthDescription: text,
  UpdateTime: time,
  RequiresControllerPlugin: flag,
  RequiresTopologies: flag,
});

/** A node. Members that only its document has (`Drain`, `Address`, `Version`) cannot be named. */
export const nodeSchema = struct({
  SecretID: text,
  ID: text,
  Datacenter: text,
  Name: text,
  HTTPAddr: text,
  TLSEnabled: flag,
  Attributes: mapOf(text),
  NodeResources: nullable(nodeResources),
  ReservedResources: nullable(reservedResources),
  Links: mapOf(text),
  Meta: mapOf(text),
  CgroupParent: text,
  NodeClass: text,
  NodePool: text,
  ComputedClass: text,
  DrainStrategy: nullable(drainStrategy),
  SchedulingEligibility: text,
  Status: text,
  StatusDescription: text,
  StatusUpdatedAt: integer,
  Events: listOf(
    struct({ Message: text, Subsystem: text, Details: mapOf(text), Timestamp: time, CreateIndex: unsigned }),
  ),
  Drivers: mapOf(nullable(driver)),
  CSIControllerPlugins: mapOf(nullable(csiPlugin)),
  CSINodePlugins: mapOf(nullable(csiPlugin)),
  LastDrain: nullable(struct({ StartedAt: time, UpdatedAt: time, Status: text, AccessorID: text, Meta: mapOf(text) })),
  LastMissedHeartbeatIndex: unsigned,
  LastAllocUpdateIndex: unsigned,
  HostVolumes: mapOf(nullable(struct({ ID: text, Name: text, Path: text, ReadOnly: flag }))),
  HostNetworks: mapOf(nullable(struct({ Name: text, CIDR: text, Interface: text, ReservedPorts: text }))),
  NodeMaxAllocs: integer,
  GCVolumesOnNodeGC: flag,
  IdentitySigningKeyID: text,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});
