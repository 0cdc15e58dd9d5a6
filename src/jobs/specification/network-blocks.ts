import { cniBlock, dnsBlock, networkBlock, portBlock } from '../document/network.js';
import { type Draft, many, one, type SpecificationBlock } from './specification-table.js';

const port: SpecificationBlock = {
  about: 'A port of the network; dynamic unless `static` is given.',
  document: portBlock,
  label: 'Label',
  attributes: { static: 'Value', to: 'To', host_network: 'HostNetwork', ignore_collision: 'IgnoreCollision' },
  blocks: {},
};

const dns: SpecificationBlock = {
  about: 'Name resolution inside the network.',
  document: dnsBlock,
  attributes: { servers: 'Servers', searches: 'Searches', options: 'Options' },
  blocks: {},
};

const cni: SpecificationBlock = {
  about: 'Arguments for the network plugin.',
  document: cniBlock,
  attributes: { args: 'Args' },
  blocks: {},
};

export const network: SpecificationBlock = {
  about: 'The network of a group (or, deprecated, of a task).',
  document: networkBlock,
  attributes: {
    mode: 'Mode',
    device: 'Device',
    cidr: 'CIDR',
    ip: 'IP',
    hostname: 'Hostname',
    mbits: 'MBits',
  },
  blocks: {
    dns: one('DNS', dns),
    reserved_ports: many('ReservedPorts', port),
    port: many('DynamicPorts', port),
    cni: one('CNI', cni),
  },
  finish: splitPorts,
};

/** A `port` block with a static number is a reserved port. */
function splitPorts(draft: Draft): void {
  const ports = draft['DynamicPorts'] as Draft[] | null;
  if (ports === null) return;
  const isReserved = ({ Value }: Draft): boolean => typeof Value === 'number' && Value > 0;
  const reserved = [...((draft['ReservedPorts'] as Draft[] | null) ?? []), ...ports.filter(isReserved)];
  const dynamic = ports.filter((candidate) => !isReserved(candidate));
  draft['ReservedPorts'] = reserved.length === 0 ? null : reserved;
  draft['DynamicPorts'] = dynamic.length === 0 ? null : dynamic;
}
