import type { Allocation } from '../allocation.js';
import type { Node } from '../node.js';
import { type AllocationUse, useOf } from './allocation-use.js';
import { addCapacity, type Capacity, subtractCapacity } from './capacity.js';
import { NodeBook } from './node-book.js';
import { computedClassOf, feasibilityText, type NodeClass } from './node-class.js';

/** An allocation before and after a write. `before` is undefined if it is new or unknown, `after` if it was removed. */
export interface AllocationChange {
  readonly before: Allocation | undefined;
  readonly after: Allocation | undefined;
}

/** Changes of nodes in one write. */
interface NodeChanges {
  readonly put?: readonly Node[];
  readonly removed?: readonly string[];
}

/**
 * The nodes with their usage. Immutable: each `with…` returns another cluster, which shares unchanged parts. Create it once
 * with `clusterFrom`, and update it with the changes of each write.
 */
export class Cluster {
  /** @internal In order of registration; a node's index in the list is its slot. */
  readonly books: readonly NodeBook[];
  readonly #slots: ReadonlyMap<string, number>;
  readonly #classes: Map<string, NodeClass>;

  /** @internal `clusterFrom` makes it. */
  constructor(books: readonly NodeBook[], slots: ReadonlyMap<string, number>, classes: Map<string, NodeClass>) {
    this.books = books;
    this.#slots = slots;
    this.#classes = classes;
  }

  /** @internal */
  slotOf(nodeId: string): number | undefined {
    return this.#slots.get(nodeId);
  }

  /** @internal */
  nodeOf(nodeId: string): Node | undefined {
    const slot = this.#slots.get(nodeId);
    return slot === undefined ? undefined : this.books[slot]?.node;
  }

  /** @internal */
  withBooks(changed: ReadonlyMap<number, NodeBook>): Cluster {
    const books = this.books.slice();
    for (const [slot, book] of changed) books[slot] = book;
    return new Cluster(books, this.#slots, this.#classes);
  }

  /** @internal */
  classOf(node: Node): NodeClass {
    return internedClass(this.#classes, node);
  }

  /** @internal */
  withNodes(changes: NodeChanges): Cluster {
    const gone = new Set(changes.removed ?? []);
    const put = new Map((changes.put ?? []).map((node) => [node.ID, node]));
    const books: NodeBook[] = [];
    for (const book of this.books) {
      const node = put.get(book.node.ID) ?? book.node;
      put.delete(node.ID);
      if (gone.has(node.ID)) continue;
      books.push(node === book.node ? book : new NodeBook(node, this.classOf(node), book.uses, book.used));
    }
    for (const node of put.values()) books.push(NodeBook.of(node, this.classOf(node), []));
    return clusterOf(books, this.#classes);
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
  const books: NodeBook[] = [];
  for (const node of nodes) books.push(NodeBook.of(node, internedClass(classes, node), uses.get(node.ID) ?? []));
  return clusterOf(books, classes);
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
  const changed = new Map<number, NodeBook>();
  for (const [slot, { uses, used }] of drafts) {
    const book = cluster.books[slot];
    if (book !== undefined) changed.set(slot, new NodeBook(book.node, book.nodeClass, uses, used));
  }
  return cluster.withBooks(changed);
}

interface BookDraft {
  uses: AllocationUse[];
  used: Capacity;
}

function draftOf(cluster: Cluster, drafts: Map<number, BookDraft>, nodeId: string): BookDraft | undefined {
  const slot = cluster.slotOf(nodeId);
  const book = slot === undefined ? undefined : cluster.books[slot];
  if (slot === undefined || book === undefined) return undefined;
  let draft = drafts.get(slot);
  if (draft === undefined) {
    draft = { uses: book.uses.slice(), used: book.used };
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

function clusterOf(books: NodeBook[], classes: Map<string, NodeClass>): Cluster {
  books.sort(
    ({ node: left }, { node: right }) =>
      left.CreateIndex - right.CreateIndex || (left.ID < right.ID ? -1 : left.ID > right.ID ? 1 : 0),
  );
  return new Cluster(books, new Map(books.map(({ node }, slot) => [node.ID, slot])), classes);
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
