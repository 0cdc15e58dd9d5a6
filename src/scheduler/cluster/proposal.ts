import type { Node } from '../node.js';
import type { AllocationUse } from './allocation-use.js';
import { addCapacity, type Capacity, subtractCapacity } from './capacity.js';
import type { Cluster } from './cluster.js';
import { PortBook } from './host-ports.js';
import { coresInUse, type DeviceBook, devicesInUse, type NodeBook, type NodeState } from './node-book.js';
import type { NodeClass } from './node-class.js';

/** A node with the changes of a plan applied. */
class ProposedBook implements NodeState {
  readonly node: Node;
  readonly nodeClass: NodeClass;
  readonly capacity: Capacity;
  used: Capacity;
  count: number;
  readonly #before: NodeBook;
  readonly #removed = new Set<string>();
  readonly #added = new Map<string, AllocationUse>();
  #uses: readonly AllocationUse[] | undefined;
  #ports: PortBook | undefined;

  constructor(before: NodeBook) {
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

  get ports(): PortBook {
    this.#ports ??= PortBook.of(this.node, this.uses);
    return this.#ports;
  }

  get cores(): ReadonlySet<number> {
    return coresInUse(this.uses);
  }

  get devices(): DeviceBook {
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
  readonly #changed = new Map<number, ProposedBook>();

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  at(slot: number): NodeState {
    return this.#changed.get(slot) ?? this.cluster.books[slot]!;
  }

  add(slot: number, use: AllocationUse): void {
    this.#draft(slot).add(use);
  }

  remove(slot: number, use: AllocationUse): void {
    this.#draft(slot).remove(use);
  }

  #draft(slot: number): ProposedBook {
    let draft = this.#changed.get(slot);
    if (draft === undefined) {
      draft = new ProposedBook(this.cluster.books[slot]!);
      this.#changed.set(slot, draft);
    }
    return draft;
  }
}
