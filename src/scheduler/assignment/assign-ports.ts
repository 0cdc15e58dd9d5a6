import { err, ok, type Result } from 'neverthrow';
import type { NetworkResource, Port } from '../../jobs/document/network.js';
import type { AllocatedNetwork, AllocatedPort } from '../allocated-resources.js';
import { addressesOf, dynamicRange, type PortBook } from '../cluster/host-ports.js';
import { hostNetworkOf } from '../feasibility/node-checks.js';
import type { Node, NodeAddress } from '../node.js';
import type { Draw } from './draw.js';

/** What a network gets of one node. */
interface PortOffer {
  readonly ports: readonly AllocatedPort[];
  /** The requested network, with the values of its dynamic ports and an address. */
  readonly network: AllocatedNetwork;
}

/** Ports that are tried by chance before the range is searched, so that a port that was just given back is not given away at once. */
const randomTries = 20;

/** Gives each port of a network a host port that is free on its host network's address, or tells what was not to be had. */
export function assignPorts(
  asked: NetworkResource,
  node: Node,
  taken: PortBook,
  draw: Draw,
): Result<PortOffer, string> {
  const offered = new PortDraft(node, taken, asked.ReservedPorts ?? []);
  for (const port of asked.ReservedPorts ?? []) {
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

class PortDraft {
  readonly ports: AllocatedPort[] = [];
  readonly #node: Node;
  readonly #taken: PortBook;
  readonly #addresses: readonly NodeAddress[];
  /** Static ports that are requested: they are not used as dynamic ports of the same host network. */
  readonly #reserved: readonly Port[];

  constructor(node: Node, taken: PortBook, reserved: readonly Port[]) {
    this.#node = node;
    this.#taken = taken;
    this.#addresses = addressesOf(node);
    this.#reserved = reserved;
  }

  addressesFor(port: Port): Result<readonly NodeAddress[], string> {
    const name = this.#networkOf(port);
    const addresses = this.#addresses.filter(({ Alias }) => Alias === name);
    return addresses.length > 0 ? ok(addresses) : err(`no addresses available for ${name ?? port.HostNetwork} network`);
  }

  isFree(address: string, port: number): boolean {
    return (
      !this.#taken.isTaken(address, port) &&
      !this.ports.some(({ HostIP, Value, IgnoreCollision }) => HostIP === address && Value === port && !IgnoreCollision)
    );
  }

  give(port: Port, { Address }: NodeAddress, value: number): void {
    const to = port.To === -1 ? value : (port.To ?? 0);
    this.ports.push({
      Label: port.Label ?? '',
      Value: value,
      ...(to === 0 ? {} : { To: to }),
      HostIP: Address,
      ...(port.IgnoreCollision === true ? { IgnoreCollision: true } : {}),
    });
  }

  giveAny(port: Port, addresses: readonly NodeAddress[], draw: Draw): boolean {
    const kept = this.#keptOn(this.#networkOf(port));
    for (const address of addresses) {
      const value = this.#anyFree(address.Address, kept, draw);
      if (value === undefined) continue;
      this.give(port, address, value);
      return true;
    }
    return false;
  }

  #keptOn(network: string | undefined): ReadonlySet<number> {
    return new Set(this.#reserved.filter((port) => this.#networkOf(port) === network).map((port) => port.Value ?? 0));
  }

  #networkOf({ HostNetwork = '' }: Port): string | undefined {
    return hostNetworkOf(HostNetwork, this.#node);
  }

  #anyFree(address: string, kept: ReadonlySet<number>, draw: Draw): number | undefined {
    const { first, last } = dynamicRange(this.#node);
    if (last < first) return undefined;
    const suits = (port: number): boolean => !kept.has(port) && this.isFree(address, port);
    for (let tries = 0; tries < randomTries; tries += 1) {
      const port = first + draw(last - first + 1);
      if (suits(port)) return port;
    }
    for (let port = first; port <= last; port += 1) if (suits(port)) return port;
    return undefined;
  }
}

function networkWith(asked: NetworkResource, ports: readonly AllocatedPort[], node: Node): AllocatedNetwork {
  const address = hostAddress(node);
  const dynamic = asked.DynamicPorts?.map((port) => {
    const given = ports.find(({ Label }) => Label === port.Label);
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
