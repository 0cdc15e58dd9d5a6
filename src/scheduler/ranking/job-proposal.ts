import { type Allocation, isClientTerminal, isTerminalAllocation } from '../allocation.js';
import { type AllocationUse, addCapacity, type Capacity, subtractCapacity, useOf } from '../cluster/capacity.js';
import {
  type Cluster,
  type ClusterNode,
  coresInUse,
  type DevicesInUse,
  devicesInUse,
  type NodeState,
} from '../cluster/cluster.js';
import { TakenPorts } from '../cluster/host-ports.js';
import type { NodeClass } from '../cluster/node-class.js';
import type { Node } from '../node.js';
import { PropertyUse } from './property-use.js';

/** One allocation more, or fewer, of a group on a node. */
interface CountChange {
  readonly slot: number;
  readonly group: string;
  readonly by: 1 | -1;
}

/**
 * The planned state of the nodes in one evaluation: usage after its stops and placements, and the positions of the job's own allocations, which
 * the rules about other allocations need.
 */
export class JobProposal {
  readonly nodes: ProposedCluster;
  readonly own = new OwnAllocations();
  readonly #allocations: readonly Allocation[];
  readonly #changes: CountChange[] = [];
  readonly #properties = new Map<string, PropertyUse>();
  readonly #watchers: ((slot: number) => void)[] = [];
  readonly #resized = new Set<string>();

  /** `allocations` must include all of the job that a node has not finished with; others are ignored. */
  constructor(cluster: Cluster, allocations: readonly Allocation[]) {
    this.nodes = new ProposedCluster(cluster);
    this.#allocations = allocations;
    for (const allocation of allocations) {
      if (isClientTerminal(allocation)) continue;
      const slot = cluster.slotOf(allocation.NodeID);
      if (slot !== undefined) this.own.change(slot, allocation.TaskGroup, 1);
    }
  }

  /** The attribute's use by the group, or by all groups of the job. */
  property(attribute: string, group?: string): PropertyUse {
    const key = group === undefined ? `job ${attribute}` : `group ${group} ${attribute}`;
    let use = this.#properties.get(key);
    if (use === undefined) {
      use = this.#countedUse(attribute, group);
      this.#properties.set(key, use);
    }
    return use;
  }

  /** Calls back with the slot of every node that changes from now on. */
  watch(watcher: (slot: number) => void): void {
    this.#watchers.push(watcher);
  }

  /** A new allocation of the job takes up room. */
  place(slot: number, use: AllocationUse): void {
    this.nodes.add(slot, use);
    this.own.change(slot, use.group, 1);
    this.#count({ slot, group: use.group, by: 1 });
    this.#notify(slot);
  }

  /**
   * Removes an allocation of the job from the usage, or adds it back (`by` 1). No effect when its node has finished with it or it is
   * unknown.
   */
  release(allocation: Allocation, by: 1 | -1 = -1): void {
    const slot = this.nodes.cluster.slotOf(allocation.NodeID);
    const use = useOf(allocation);
    if (slot === undefined || use === undefined) return;
    if (by === 1) this.nodes.add(slot, use);
    else this.nodes.remove(slot, use);
    this.own.change(slot, allocation.TaskGroup, by);
    if (!isTerminalAllocation(allocation)) this.#count({ slot, group: allocation.TaskGroup, by });
    this.#notify(slot);
  }

  /** A failed allocation that waits for its replacement counts as running on its node while this evaluation selects nodes. */
  keepInPlace(allocation: Allocation): void {
    const slot = isClientTerminal(allocation) ? this.nodes.cluster.slotOf(allocation.NodeID) : undefined;
    if (slot === undefined) return;
    this.own.change(slot, allocation.TaskGroup, 1);
    this.#notify(slot);
  }

  /** An allocation of the job stays where it is with other resources. Only the first call per allocation counts. */
  resize(allocation: Allocation, use: AllocationUse): void {
    const slot = this.nodes.cluster.slotOf(allocation.NodeID);
    const before = useOf(allocation);
    if (slot === undefined || before === undefined || this.#resized.has(allocation.ID)) return;
    this.#resized.add(allocation.ID);
    this.nodes.remove(slot, before);
    this.nodes.add(slot, use);
    this.#notify(slot);
  }

  /** An allocation of another job is preempted. */
  preempt(slot: number, use: AllocationUse): void {
    this.nodes.remove(slot, use);
    this.#notify(slot);
  }

  #countedUse(attribute: string, group: string | undefined): PropertyUse {
    const { cluster } = this.nodes;
    const use = new PropertyUse(cluster, attribute, group);
    for (const allocation of this.#allocations) {
      const slot = isTerminalAllocation(allocation) ? undefined : cluster.slotOf(allocation.NodeID);
      if (slot !== undefined) use.change(slot, allocation.TaskGroup, 1);
    }
    for (const change of this.#changes) use.change(change.slot, change.group, change.by);
    return use;
  }

  #count(change: CountChange): void {
    this.#changes.push(change);
    for (const property of this.#properties.values()) property.change(change.slot, change.group, change.by);
  }

  #notify(slot: number): void {
    for (const watcher of this.#watchers) watcher(slot);
  }
}

/** How many allocations of a job are on each node, by group. */
class OwnAllocations {
  readonly #bySlot = new Map<number, Map<string, number>>();

  on(slot: number): number {
    let sum = 0;
    for (const count of this.#bySlot.get(slot)?.values() ?? []) sum += count;
    return sum;
  }

  ofGroupOn(slot: number, group: string): number {
    return this.#bySlot.get(slot)?.get(group) ?? 0;
  }

  change(slot: number, group: string, by: 1 | -1): void {
    let groups = this.#bySlot.get(slot);
    if (groups === undefined) {
      groups = new Map();
      this.#bySlot.set(slot, groups);
    }
    groups.set(group, (groups.get(group) ?? 0) + by);
  }
}

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
class ProposedCluster {
  readonly #changed = new Map<number, ProposedNode>();

  constructor(readonly cluster: Cluster) {}

  at(slot: number): NodeState {
    return this.#changed.get(slot) ?? this.cluster.stateAt(slot);
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
      draft = new ProposedNode(this.cluster.stateAt(slot));
      this.#changed.set(slot, draft);
    }
    return draft;
  }
}
