import type { DrainMetadata, Node } from '../scheduler/node.js';
import { type StoredRow, shownPage } from './answers.js';

/** A node as lists show it (job interface, nodes). */
export interface NodeListStub {
  readonly Address: string;
  readonly ID: string;
  readonly Datacenter: string;
  readonly Name: string;
  readonly NodePool: string;
  readonly NodeClass: string;
  readonly Version: string;
  readonly Drain: boolean;
  readonly SchedulingEligibility: string;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly Drivers: Node['Drivers'];
  readonly HostVolumes: NonNullable<Node['HostVolumes']>;
  readonly LastDrain: DrainMetadata | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly NodeResources?: Node['NodeResources'];
  readonly ReservedResources?: Node['ReservedResources'];
  readonly Attributes?: Readonly<Record<string, string>>;
}

/** A node as lists show it. */
function nodeStub(node: Node, resources: boolean, os: boolean): NodeListStub {
  return {
    Address: node.HTTPAddr.replace(/:[0-9]+$/, ''),
    ID: node.ID,
    Datacenter: node.Datacenter,
    Name: node.Name,
    NodePool: node.NodePool,
    NodeClass: node.NodeClass,
    Version: node.Attributes['nomad.version'] ?? '',
    Drain: (node.DrainStrategy ?? null) !== null,
    SchedulingEligibility: node.SchedulingEligibility,
    Status: node.Status,
    StatusDescription: node.StatusDescription,
    Drivers: driversOf(node),
    HostVolumes: node.HostVolumes ?? {},
    LastDrain: lastDrainOf(node),
    CreateIndex: node.CreateIndex,
    ModifyIndex: node.ModifyIndex,
    ...(resources ? resourcesOf(node) : {}),
    ...(os ? { Attributes: { 'os.name': node.Attributes['os.name'] ?? '' } } : {}),
  };
}

/** A page of nodes as lists show them, with the requested details (`nodeDetails`). */
export const nodePage = shownPage('NodeListStub', ({ record }: StoredRow<Node>, { resources, os }) =>
  nodeStub(record, resources === true, os === true),
);

/** The whole node; members that this server does not use have their empty form. The node's secret is never shown. */
export function nodeDocument(node: Node) {
  return {
    TLSEnabled: false,
    ComputedClass: '',
    DrainStrategy: null,
    Drain: (node.DrainStrategy ?? null) !== null,
    CSIControllerPlugins: {},
    CSINodePlugins: {},
    HostNetworks: {},
    CgroupParent: '',
    GCVolumesOnNodeGC: false,
    NodeMaxAllocs: 0,
    LastMissedHeartbeatIndex: 0,
    LastAllocUpdateIndex: 0,
    IdentitySigningKeyID: '',
    ...node,
    // Clients fail at a null where Nomad always has an object or a list.
    Meta: node.Meta ?? {},
    Links: node.Links ?? {},
    HostVolumes: node.HostVolumes ?? {},
    Events: node.Events ?? [],
    LastDrain: lastDrainOf(node),
    Drivers: driversOf(node),
    ...resourcesOf(node),
    SecretID: '',
  };
}

function driversOf({ Drivers }: Node): Node['Drivers'] {
  const entries = Object.entries(Drivers);
  return Object.fromEntries(
    entries.map(([name, driver]) => [name, { ...driver, Attributes: driver.Attributes ?? {} }]),
  );
}

function lastDrainOf({ LastDrain }: Node) {
  return LastDrain === undefined || LastDrain === null ? null : { ...LastDrain, Meta: LastDrain.Meta ?? {} };
}

function resourcesOf({ NodeResources, ReservedResources }: Node) {
  const { Cpu, Networks, NodeNetworks, Devices } = NodeResources;
  return {
    NodeResources: {
      ...NodeResources,
      Processors: { Topology: {} },
      Cpu: { ...Cpu, ReservableCpuCores: Cpu.ReservableCpuCores ?? [] },
      Networks: Networks ?? [],
      NodeNetworks: (NodeNetworks ?? []).map((each) => ({ ...each, Addresses: each.Addresses ?? [] })),
      Devices: Devices?.map((device) => ({ ...device, Attributes: device.Attributes ?? {} })) ?? null,
    },
    ReservedResources: {
      ...ReservedResources,
      Cpu: { ReservedCpuCores: [], ...ReservedResources.Cpu },
      Networks: { ReservedHostPorts: '', ...ReservedResources.Networks },
    },
  };
}
