import { err, ok, type Result } from 'neverthrow';
import type { NetworkResource, Port } from '../../jobs/document/network.js';
import type { AllocatedNetwork, AllocatedPort } from '../allocated-resources.js';
import { addressesOf, dynamicRange, type TakenPorts } from '../cluster/host-ports.js';
import { hostNetworkOf } from '../feasibility/node-checks.js';
import type { Node, NodeAddress } from '../node.js';

/** A network assigned on one node. */
export interface PortOffer {
  readonly ports: readonly AllocatedPort[];
  /** The requested network with an address and the values of its dynamic ports. */
  readonly network: AllocatedNetwork;
}

/** The state that ports are assigned from. */
interface PortSupply {
  readonly node: Node;
  readonly taken: TakenPorts;
  /** Static ports that later networks of the allocation request: not used as dynamic ports. */
  readonly spared: readonly Port[];
}

/** Random ports to try before searching the range in order, so that a port that was just freed is not reused at once. */
const randomTries = 20;

/** Assigns each port of a network a host port that is free on its host network's address; otherwise returns the exhausted dimension. */
export function assignPorts(
  asked: NetworkResource,
  { node, taken, spared }: PortSupply,
  draw: Draw,
): Result<PortOffer, string> {
  const statics = asked.ReservedPorts ?? [];
  const offered = new PortDraft(node, taken, [...statics, ...spared]);
  for (const port of statics) {
    const addresses = offered.addressesFor(port);
    if (addresses.isErr()) return err(addresses.error);
    const value = port.Value ?? 0;
    const address = addresses.value.find(
      ({ Address }) => port.IgnoreCollision === true || offered.isFree(Address, value),
    );
    if (address === undefined) return err(`reserved port collision ${port.Label ?? ''}=${value}`);
    offered.give(port, address, value);
  }
  for (const port of asked.DynamicPorts ?? []) {
    const addresses = offered.addressesFor(port);
    if (addresses.isErr()) return err(addresses.error);
    if (!offered.giveAny(port, addresses.value, draw)) return err('dynamic port selection failed');
  }
  return ok({ ports: offered.ports, network: networkWith(asked, offered.ports, node) });
}

/** Takes constant time per port: a group may request thousands. */
class PortDraft {
  readonly ports: AllocatedPort[] = [];
  readonly #node: Node;
  readonly #taken: TakenPorts;
  readonly #addresses: readonly NodeAddress[];
  /** Ports assigned here, by address. */
  readonly #given = new Map<string, Set<number>>();
  /** Requested static ports by host network: not used as dynamic ports of the same host network. */
  readonly #kept = new Map<string | undefined, Set<number>>();
  /** By host network and address, the port at which the search of the range continues: all lower ones are taken. */
  readonly #searched = new Map<string, number>();

  constructor(node: Node, taken: TakenPorts, reserved: readonly Port[]) {
    this.#node = node;
    this.#taken = taken;
    this.#addresses = addressesOf(node);
    for (const port of reserved) added(this.#kept, this.#networkOf(port), port.Value ?? 0);
  }

  addressesFor(port: Port): Result<readonly NodeAddress[], string> {
    const name = this.#networkOf(port);
    const addresses = this.#addresses.filter(({ Alias }) => Alias === name);
    return addresses.length > 0 ? ok(addresses) : err(`no addresses available for ${name ?? port.HostNetwork} network`);
  }

  isFree(address: string, port: number): boolean {
    return !this.#taken.isTaken(address, port) && this.#given.get(address)?.has(port) !== true;
  }

  give(port: Port, { Address }: NodeAddress, value: number): void {
    const to = port.To === -1 ? value : (port.To ?? 0);
    const shared = port.IgnoreCollision === true;
    if (!shared) added(this.#given, Address, value);
    this.ports.push({
      Label: port.Label ?? '',
      Value: value,
      ...(to === 0 ? {} : { To: to }),
      HostIP: Address,
      ...(shared ? { IgnoreCollision: true } : {}),
    });
  }

  giveAny(port: Port, addresses: readonly NodeAddress[], draw: Draw): boolean {
    const network = this.#networkOf(port);
    for (const address of addresses) {
      const value = this.#anyFree(address.Address, network, draw);
      if (value === undefined) continue;
      this.give(port, address, value);
      return true;
    }
    return false;
  }

  #networkOf({ HostNetwork = '' }: Port): string | undefined {
    return hostNetworkOf(HostNetwork, this.#node);
  }

  #anyFree(address: string, network: string | undefined, draw: Draw): number | undefined {
    const { first, last } = dynamicRange(this.#node);
    if (last < first) return undefined;
    const kept = this.#kept.get(network);
    const suits = (port: number): boolean => kept?.has(port) !== true && this.isFree(address, port);
    for (let tries = 0; tries < randomTries; tries += 1) {
      const port = first + draw(last - first + 1);
      if (suits(port)) return port;
    }
    const place = `${address} ${network}`;
    let port = this.#searched.get(place) ?? first;
    while (port <= last && !suits(port)) port += 1;
    this.#searched.set(place, port);
    return port <= last ? port : undefined;
  }
}

function added<K>(sets: Map<K, Set<number>>, key: K, value: number): void {
  const present = sets.get(key);
  if (present === undefined) sets.set(key, new Set([value]));
  else present.add(value);
}

function networkWith(asked: NetworkResource, ports: readonly AllocatedPort[], node: Node): AllocatedNetwork {
  const address = hostAddress(node);
  // Of several ports with one label, the first counts.
  const byLabel = new Map(ports.toReversed().map((port) => [port.Label, port]));
  const dynamic = asked.DynamicPorts?.map((port) => {
    const given = byLabel.get(port.Label ?? '');
    return given === undefined
      ? port
      : { ...port, Value: given.Value, ...(given.To === undefined ? {} : { To: given.To }) };
  });
  return {
    ...asked,
    ...(address === undefined ? {} : { IP: address }),
    ...(dynamic === undefined ? {} : { DynamicPorts: dynamic }),
  };
}

function hostAddress(node: Node): string | undefined {
  const host = node.NodeResources.NodeNetworks?.find(({ Mode }) => Mode === 'host' || Mode === '');
  return host?.Addresses?.[0]?.Address ?? addressesOf(node)[0]?.Address;
}

/** Returns an integer from 0 up to, but not including, the bound. */
export type Draw = (bound: number) => number;

/** A pseudorandom generator seeded by the string, so that generated values of a plan are reproducible. */
export function drawFrom(text: string): Draw {
  let state = 0x9e3779b9;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x85ebca6b);
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * bound);
  };
}
