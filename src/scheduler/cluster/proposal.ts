import type { Node } from '../node.js';
import type { AllocationUse } from './allocation-use.js';
import { addCapacity, type Capacity, subtractCapacity } from './capacity.js';
import {
  type Cluster,
  type ClusterNode,
  coresInUse,
  type DevicesInUse,
  devicesInUse,
  type NodeState,
} from './cluster.js';
import { TakenPorts } from './host-ports.js';
import type { NodeClass } from './node-class.js';

/** A node with the changes of a plan applied. */
class ProposedNode implements NodeState {
  readonly node: Node;
  readonly nodeClass: NodeClass;
  readonly capacity: Capacity;
  used: Capacity;
  count: number;
  readonly #before: ClusterNode;
  readonly #removed = new Set<string>();
  readonly #added = new Map<string, AllocationUse>();
  #uses: readonly AllocationUse[] | undefined;
  #ports: TakenPorts | undefined;

  constructor(before: ClusterNode) {
    this.#before = before;
    this.node = before.node;
    this.nodeClass = before.nodeClass;
    this.capacity = before.capacity;
    this.used = before.used;
    this.count = before.count;
  }

  add(use: AllocationUse): void {
    this.#added.set(use.id, use);
    this.used = addCapacity(this.used, use);
    this.#changed(1);
  }

  remove(use: AllocationUse): void {
    if (!this.#added.delete(use.id)) this.#removed.add(use.id);
    this.used = subtractCapacity(this.used, use);
    this.#changed(-1);
  }

  get uses(): readonly AllocationUse[] {
    this.#uses ??= [...this.#before.uses.filter((use) => !this.#removed.has(use.id)), ...this.#added.values()];
    return this.#uses;
  }

  get ports(): TakenPorts {
    this.#ports ??= TakenPorts.of(this.node, this.uses);
    return this.#ports;
  }

  get cores(): ReadonlySet<number> {
    return coresInUse(this.uses);
  }

  get devices(): DevicesInUse {
    return devicesInUse(this.uses);
  }

  #changed(count: 1 | -1): void {
    this.count += count;
    this.#uses = undefined;
    this.#ports = undefined;
  }
}

/** The cluster with the decisions of a plan so far applied. Nodes are addressed by slot. */
export class ProposedCluster {
  readonly cluster: Cluster;
  readonly #changed = new Map<number, ProposedNode>();

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  at(slot: number): NodeState {
    return this.#changed.get(slot) ?? this.cluster.nodeStates[slot]!;
  }

  add(slot: number, use: AllocationUse): void {
    this.#draft(slot).add(use);
  }

  remove(slot: number, use: AllocationUse): void {
    this.#draft(slot).remove(use);
  }

  #draft(slot: number): ProposedNode {
    let draft = this.#changed.get(slot);
    if (draft === undefined) {
      draft = new ProposedNode(this.cluster.nodeStates[slot]!);
      this.#changed.set(slot, draft);
    }
    return draft;
  }
}
