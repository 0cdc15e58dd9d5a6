import type { Node, NodeAddress } from '../node.js';
import type { AllocationUse, HostPort } from './capacity.js';

/** The dynamic port range of a node that declares none. */
export const dynamicPorts = { first: 20_000, last: 32_000 };
const lastPort = 65_535;

/** The host network of a port that names none. */
export const defaultHostNetwork = 'default';

/** A node's addresses by host network. A node that lists none has one, `default`. */
export function addressesOf(node: Node): readonly NodeAddress[] {
  const networks = node.NodeResources.NodeNetworks ?? null;
  if (networks === null || networks.length === 0) return [{ Alias: defaultHostNetwork, Address: ownAddress(node) }];
  return networks.flatMap((network) => network.Addresses ?? []);
}

/** The dynamic range of a node, both ends included. */
export function dynamicRange(node: Node): { readonly first: number; readonly last: number } {
  const { MinDynamicPort, MaxDynamicPort } = node.NodeResources;
  return {
    first: MinDynamicPort !== undefined && MinDynamicPort > 0 ? MinDynamicPort : dynamicPorts.first,
    last: MaxDynamicPort !== undefined && MaxDynamicPort > 0 ? MaxDynamicPort : dynamicPorts.last,
  };
}

/** The taken ports by address. */
export class TakenPorts {
  readonly #byAddress: ReadonlyMap<string, ReadonlySet<number>>;

  private constructor(byAddress: ReadonlyMap<string, ReadonlySet<number>>) {
    this.#byAddress = byAddress;
  }

  /** Reserved ports of the node and ports of its allocations. */
  static of(node: Node, uses: Iterable<AllocationUse>): TakenPorts {
    const taken = new Map<string, Set<number>>();
    const everywhere = portsFrom(node.ReservedResources.Networks?.ReservedHostPorts ?? '');
    for (const { Address, ReservedPorts = '' } of addressesOf(node)) {
      const ports = portsOn(taken, Address);
      for (const port of everywhere) ports.add(port);
      for (const port of portsFrom(ReservedPorts)) ports.add(port);
    }
    for (const { ports } of uses) {
      for (const { address, port } of ports) portsOn(taken, address).add(port);
    }
    return new TakenPorts(taken);
  }

  /** Marks these ports as taken. */
  with(ports: readonly HostPort[]): TakenPorts {
    const taken = new Map<string, Set<number>>();
    for (const [address, numbers] of this.#byAddress) taken.set(address, new Set(numbers));
    for (const { address, port } of ports) portsOn(taken, address).add(port);
    return new TakenPorts(taken);
  }

  isTaken(address: string, port: number): boolean {
    return this.#byAddress.get(address)?.has(port) ?? false;
  }
}

/** Parses a list such as `22,8000-8999`. Invalid parts are skipped. */
function portsFrom(list: string): readonly number[] {
  const spans: (readonly [first: number, last: number])[] = [];
  for (const item of list.split(',')) {
    const [first, last = first] = item.split('-').map((part) => Number.parseInt(part.trim(), 10));
    if (first === undefined || last === undefined || Number.isNaN(first) || Number.isNaN(last)) continue;
    spans.push([Math.max(first, 0), Math.min(last, lastPort)]);
  }
  // Sorted, so that each port is visited once even if spans overlap.
  spans.sort(([left], [right]) => left - right);
  const ports: number[] = [];
  let next = 0;
  for (const [first, last] of spans) {
    for (next = Math.max(next, first); next <= last; next += 1) ports.push(next);
  }
  return ports;
}

function portsOn(taken: Map<string, Set<number>>, address: string): Set<number> {
  let ports = taken.get(address);
  if (ports === undefined) {
    ports = new Set();
    taken.set(address, ports);
  }
  return ports;
}

function ownAddress(node: Node): string {
  return node.Attributes['unique.network.ip-address'] ?? '127.0.0.1';
}
