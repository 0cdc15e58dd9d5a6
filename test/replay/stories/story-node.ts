import type { DeviceAttribute, Node, NodeDeviceGroup } from '../../../src/scheduler/node.js';
import type { StoryNode } from './story.js';

const defaultCores = 4;

/** The record of a story's node. `number` counts the nodes of the story from 1; its address follows from it. */
export function nodeFromStory(story: StoryNode, number: number): Node {
  const address = `10.0.0.${number}`;
  const { reserved = {}, networkModes = [], hostNetworks = [] } = story;
  return {
    ID: nodeIdOf(story.name),
    Name: story.name,
    Datacenter: story.datacenter,
    NodePool: story.nodePool,
    NodeClass: story.nodeClass ?? '',
    HTTPAddr: '',
    Attributes: story.attributes ?? {},
    Meta: story.meta ?? null,
    NodeResources: {
      Cpu: { CpuShares: story.cpu, TotalCpuCores: story.cores ?? defaultCores, ReservableCpuCores: null },
      Memory: { MemoryMB: story.memoryMB },
      Disk: { DiskMB: story.diskMB },
      Networks: [
        { Mode: 'host', Device: 'eth0', IP: address },
        ...networkModes.map((Mode) => ({ Mode, Device: '', IP: '' })),
      ],
      NodeNetworks: [
        { Mode: 'host', Device: 'eth0', Addresses: [{ Alias: 'default', Address: address }] },
        ...hostNetworks.map(({ alias, address: Address, device }) => ({
          Mode: 'host',
          Device: device,
          Addresses: [{ Alias: alias, Address }],
        })),
      ],
      Devices: (story.devices ?? []).map(deviceFrom),
      ...(story.minDynamicPort === undefined ? {} : { MinDynamicPort: story.minDynamicPort }),
      ...(story.maxDynamicPort === undefined ? {} : { MaxDynamicPort: story.maxDynamicPort }),
    },
    ReservedResources: {
      Cpu: { CpuShares: reserved.cpu ?? 0 },
      Memory: { MemoryMB: reserved.memoryMB ?? 0 },
      Disk: { DiskMB: reserved.diskMB ?? 0 },
      Networks: { ReservedHostPorts: reserved.hostPorts ?? '' },
    },
    Drivers: Object.fromEntries(
      Object.entries(story.drivers ?? {}).map(([name, { detected, healthy }]) => [
        name,
        { Attributes: null, Detected: detected, Healthy: healthy, HealthDescription: '', UpdateTime: '' },
      ]),
    ),
    HostVolumes: Object.fromEntries(
      Object.entries(story.hostVolumes ?? {}).map(([name, { readOnly }]) => [
        name,
        { Name: name, Path: `/srv/${name}`, ReadOnly: readOnly },
      ]),
    ),
    ...(story.nodeMaxAllocs === undefined ? {} : { NodeMaxAllocs: story.nodeMaxAllocs }),
    SchedulingEligibility: story.eligibility,
    Status: story.status,
    StatusDescription: '',
    StatusUpdatedAt: 0,
    CreateIndex: number,
    ModifyIndex: number,
  };
}

export function nodeIdOf(name: string): string {
  return `node-${name}`;
}

function deviceFrom(device: NonNullable<StoryNode['devices']>[number]): NodeDeviceGroup {
  const { vendor: Vendor, type: Type, name: Name, healthy = 0, unhealthy = 0, attributes = {} } = device;
  const instances = (count: number, Healthy: boolean) =>
    Array.from({ length: count }, (_, at) => ({ ID: `${Name}-${Healthy ? 'good' : 'bad'}-${at}`, Healthy }));
  return {
    Vendor,
    Type,
    Name,
    Instances: [...instances(healthy, true), ...instances(unhealthy, false)],
    Attributes: Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name, attributeFrom(text)])),
  };
}

/** `24 GiB`, `7.5`, `true` or text. */
function attributeFrom(text: string): DeviceAttribute {
  if (text === 'true' || text === 'false') return { Bool: text === 'true' };
  const [, number, unit = ''] = /^([+-]?\d+(?:\.\d+)?)\s*([A-Za-z/]*)$/.exec(text) ?? [];
  if (number === undefined) return { String: text };
  const value = number.includes('.') ? { Float: Number(number) } : { Int: Number(number) };
  return unit === '' ? value : { ...value, Unit: unit };
}
