import type { AllocatedDevice } from '../allocated-resources.js';
import type { Allocation } from '../allocation.js';
import type { Node } from '../node.js';
import {
  type AllocationUse,
  addCapacity,
  type Capacity,
  noCapacity,
  nodeCapacity,
  subtractCapacity,
  useOf,
} from './capacity.js';
import { TakenPorts } from './host-ports.js';
import { computedClassOf, feasibilityText, type NodeClass } from './node-class.js';

/** An allocation before and after a write. `before` is undefined if it is new or unknown, `after` if it was removed. */
export interface AllocationChange {
  readonly before: Allocation | undefined;
  readonly after: Allocation | undefined;
}

/** The same for an allocation that is still there. */
export interface PutAllocation extends AllocationChange {
  readonly after: Allocation;
}

/**
 * The nodes with their usage. Immutable: each `with…` returns another cluster, which shares unchanged parts. Create it once
 * with `clusterFrom`, and update it with the changes of each write.
 */
export class Cluster {
  /** @internal In order of registration; a node's index in the list is its slot. */
  readonly nodeStates: readonly ClusterNode[];
  readonly #slots: ReadonlyMap<string, number>;
  readonly #classes: Map<string, NodeClass>;

  /** @internal `clusterFrom` makes it. */
  constructor(nodeStates: readonly ClusterNode[], slots: ReadonlyMap<string, number>, classes: Map<string, NodeClass>) {
    this.nodeStates = nodeStates;
    this.#slots = slots;
    this.#classes = classes;
  }

  /** @internal */
  slotOf(nodeId: string): number | undefined {
    return this.#slots.get(nodeId);
  }

  /** @internal */
  stateAt(slot: number): ClusterNode {
    const state = this.nodeStates[slot];
    if (state === undefined) throw new RangeError(`the cluster has no node at ${slot}`);
    return state;
  }

  /** @internal */
  nodeOf(nodeId: string): Node | undefined {
    const slot = this.#slots.get(nodeId);
    return slot === undefined ? undefined : this.nodeStates[slot]?.node;
  }

  /** @internal */
  withNodeStates(changed: ReadonlyMap<number, ClusterNode>): Cluster {
    const nodeStates = this.nodeStates.slice();
    for (const [slot, nodeState] of changed) nodeStates[slot] = nodeState;
    return new Cluster(nodeStates, this.#slots, this.#classes);
  }

  /** @internal */
  classOf(node: Node): NodeClass {
    return internedClass(this.#classes, node);
  }

  /** @internal */
  withNodes(changes: { readonly put?: readonly Node[]; readonly removed?: readonly string[] }): Cluster {
    const gone = new Set(changes.removed ?? []);
    const put = new Map((changes.put ?? []).map((node) => [node.ID, node]));
    const nodeStates: ClusterNode[] = [];
    for (const nodeState of this.nodeStates) {
      const node = put.get(nodeState.node.ID) ?? nodeState.node;
      put.delete(node.ID);
      if (gone.has(node.ID)) continue;
      nodeStates.push(
        node === nodeState.node ? nodeState : new ClusterNode(node, this.classOf(node), nodeState.uses, nodeState.used),
      );
    }
    for (const node of put.values()) nodeStates.push(ClusterNode.of(node, this.classOf(node), []));
    return clusterOf(nodeStates, this.#classes);
  }
}

/** Creates the cluster of these nodes. `allocations` must include all that a node has not finished with; others are ignored. */
export function clusterFrom(nodes: Iterable<Node>, allocations: Iterable<Allocation>): Cluster {
  const uses = new Map<string, AllocationUse[]>();
  for (const allocation of allocations) addUse(uses, allocation);
  return clusterOfUses(nodes, uses);
}

/** Adds an allocation's use to its node; none if the node has finished with it. */
export function addUse(uses: Map<string, AllocationUse[]>, allocation: Allocation): void {
  const use = useOf(allocation);
  if (use === undefined) return;
  const onNode = uses.get(allocation.NodeID);
  if (onNode === undefined) uses.set(allocation.NodeID, [use]);
  else onNode.push(use);
}

/** Creates the cluster of these nodes with their usage by node. */
export function clusterOfUses(nodes: Iterable<Node>, uses: ReadonlyMap<string, readonly AllocationUse[]>): Cluster {
  const classes = new Map<string, NodeClass>();
  const nodeStates: ClusterNode[] = [];
  for (const node of nodes)
    nodeStates.push(ClusterNode.of(node, internedClass(classes, node), uses.get(node.ID) ?? []));
  return clusterOf(nodeStates, classes);
}

/**
 * The cluster after a write. Allocation changes replace earlier ones, so applying the same change twice is safe. Allocations on
 * unknown nodes are ignored.
 */
export function withAllocationChanges(cluster: Cluster, changes: Iterable<AllocationChange>): Cluster {
  const drafts = new Map<number, BookDraft>();
  for (const { before, after } of changes) {
    if (before !== undefined) forget(draftOf(cluster, drafts, before.NodeID), before.ID);
    if (after !== undefined) remember(draftOf(cluster, drafts, after.NodeID), after);
  }
  if (drafts.size === 0) return cluster;
  const changed = new Map<number, ClusterNode>();
  for (const [slot, { uses, used }] of drafts) {
    const nodeState = cluster.nodeStates[slot];
    if (nodeState !== undefined) changed.set(slot, new ClusterNode(nodeState.node, nodeState.nodeClass, uses, used));
  }
  return cluster.withNodeStates(changed);
}

interface BookDraft {
  uses: AllocationUse[];
  used: Capacity;
}

function draftOf(cluster: Cluster, drafts: Map<number, BookDraft>, nodeId: string): BookDraft | undefined {
  const slot = cluster.slotOf(nodeId);
  const nodeState = slot === undefined ? undefined : cluster.nodeStates[slot];
  if (slot === undefined || nodeState === undefined) return undefined;
  let draft = drafts.get(slot);
  if (draft === undefined) {
    draft = { uses: nodeState.uses.slice(), used: nodeState.used };
    drafts.set(slot, draft);
  }
  return draft;
}

function forget(draft: BookDraft | undefined, allocationId: string): void {
  if (draft === undefined) return;
  const at = draft.uses.findLastIndex((use) => use.id === allocationId);
  const use = draft.uses[at];
  const last = draft.uses.at(-1);
  if (use === undefined || last === undefined) return;
  draft.uses[at] = last;
  draft.uses.pop();
  draft.used = subtractCapacity(draft.used, use);
}

function remember(draft: BookDraft | undefined, allocation: Allocation): void {
  forget(draft, allocation.ID);
  const use = useOf(allocation);
  if (draft === undefined || use === undefined) return;
  draft.uses.push(use);
  draft.used = addCapacity(draft.used, use);
}

function clusterOf(nodeStates: ClusterNode[], classes: Map<string, NodeClass>): Cluster {
  nodeStates.sort(
    ({ node: left }, { node: right }) =>
      left.CreateIndex - right.CreateIndex || (left.ID < right.ID ? -1 : left.ID > right.ID ? 1 : 0),
  );
  return new Cluster(nodeStates, new Map(nodeStates.map(({ node }, slot) => [node.ID, slot])), classes);
}

/** One shared object per class, so that verdicts can be cached by identity. */
function internedClass(classes: Map<string, NodeClass>, node: Node): NodeClass {
  const text = feasibilityText(node);
  let known = classes.get(text);
  if (known === undefined) {
    known = { computed: computedClassOf(node) };
    classes.set(text, known);
  }
  return known;
}

/** Instances in use, as `<vendor>/<type>/<name>#<id>`. */
export type DevicesInUse = ReadonlySet<string>;

/** A node and its usage, actual or planned. */
export interface NodeState {
  readonly node: Node;
  readonly nodeClass: NodeClass;
  readonly capacity: Capacity;
  readonly used: Capacity;
  /** Number of allocations. */
  readonly count: number;
  /** By allocation; unordered. */
  readonly uses: readonly AllocationUse[];
  readonly ports: TakenPorts;
  readonly cores: ReadonlySet<number>;
  readonly devices: DevicesInUse;
}

/**
 * A node and the usage of its allocations. Immutable; ports, cores and devices, which few jobs need, are computed on first use and
 * cached.
 */
export class ClusterNode implements NodeState {
  readonly node: Node;
  readonly nodeClass: NodeClass;
  readonly capacity: Capacity;
  readonly used: Capacity;
  readonly uses: readonly AllocationUse[];
  #ports: TakenPorts | undefined;
  #cores: ReadonlySet<number> | undefined;
  #devices: DevicesInUse | undefined;

  constructor(node: Node, nodeClass: NodeClass, uses: readonly AllocationUse[], used: Capacity) {
    this.node = node;
    this.nodeClass = nodeClass;
    this.capacity = nodeCapacity(node);
    this.uses = uses;
    this.used = used;
  }

  static of(node: Node, nodeClass: NodeClass, uses: readonly AllocationUse[]): ClusterNode {
    return new ClusterNode(node, nodeClass, uses, uses.reduce<Capacity>(addCapacity, noCapacity));
  }

  get count(): number {
    return this.uses.length;
  }

  get ports(): TakenPorts {
    this.#ports ??= TakenPorts.of(this.node, this.uses);
    return this.#ports;
  }

  get cores(): ReadonlySet<number> {
    this.#cores ??= coresInUse(this.uses);
    return this.#cores;
  }

  get devices(): DevicesInUse {
    this.#devices ??= devicesInUse(this.uses);
    return this.#devices;
  }
}

export function coresInUse(uses: Iterable<AllocationUse>): ReadonlySet<number> {
  const cores = new Set<number>();
  for (const use of uses) for (const core of use.cores) cores.add(core);
  return cores;
}

export function devicesInUse(uses: Iterable<AllocationUse>): DevicesInUse {
  const instances = new Set<string>();
  for (const use of uses) {
    for (const device of use.devices) for (const id of device.DeviceIDs) instances.add(deviceKey(device, id));
  }
  return instances;
}

export function deviceKey(device: Pick<AllocatedDevice, 'Vendor' | 'Type' | 'Name'>, id: string): string {
  return `${device.Vendor}/${device.Type}/${device.Name}#${id}`;
}
