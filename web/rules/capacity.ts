/*
 * What the nodes have and what is allocated on them. Amounts are MiB of memory and MHz of CPU.
 */

interface NodeEntry {
  readonly ID: string;
  readonly Name: string;
  readonly NodePool: string;
  readonly Datacenter: string;
  readonly NodeClass: string;
  readonly NodeResources?: Amounts;
  readonly ReservedResources?: Amounts;
}

interface Amounts {
  readonly Cpu: { readonly CpuShares: number };
  readonly Memory: { readonly MemoryMB: number };
}

interface AllocationEntry {
  readonly NodeID: string;
  readonly DesiredStatus: string;
  readonly ClientStatus: string;
  readonly AllocatedResources?: {
    readonly Tasks: Readonly<Record<string, Amounts>>;
    readonly TaskLifecycles: Readonly<
      Record<string, { readonly Hook: string; readonly Sidecar: boolean } | null>
    > | null;
  };
}

interface Share {
  readonly memory: number;
  readonly cpu: number;
}

export interface NodeCapacity<N> {
  readonly node: N;
  readonly total: Share;
  readonly allocated: Share;
  /** Allocations that take up room. */
  readonly count: number;
}

const none: Share = { memory: 0, cpu: 0 };

function plus(a: Share, b: Share): Share {
  return { memory: a.memory + b.memory, cpu: a.cpu + b.cpu };
}

function most(a: Share, b: Share): Share {
  return { memory: Math.max(a.memory, b.memory), cpu: Math.max(a.cpu, b.cpu) };
}

/** Whether the allocation takes up room: it has not ended on its node. */
export function takesRoom({ ClientStatus }: { readonly ClientStatus: string }): boolean {
  return ClientStatus !== 'complete' && ClientStatus !== 'failed' && ClientStatus !== 'lost';
}

/** What an allocation takes up at its peak: main tasks with their sidecars, before them the prestart tasks, after them the poststop tasks. */
export function shareOf({ AllocatedResources }: AllocationEntry): Share {
  if (AllocatedResources === undefined) return none;
  const { Tasks, TaskLifecycles } = AllocatedResources;
  const sums = { before: none, main: none, after: none };
  for (const [name, { Cpu, Memory }] of Object.entries(Tasks)) {
    const share = { memory: Memory.MemoryMB, cpu: Cpu.CpuShares };
    for (const phase of phasesOf(TaskLifecycles?.[name] ?? null)) sums[phase] = plus(sums[phase], share);
  }
  return most(sums.before, most(sums.main, sums.after));
}

function phasesOf(
  lifecycle: { readonly Hook: string; readonly Sidecar: boolean } | null,
): readonly ('before' | 'main' | 'after')[] {
  if (lifecycle === null || lifecycle.Hook === 'poststart') return ['main'];
  if (lifecycle.Hook === 'poststop') return ['after'];
  return lifecycle.Sidecar ? ['before', 'main'] : ['before'];
}

/** The capacity of each node, in the order of the nodes. */
export function capacities<N extends NodeEntry>(
  nodes: readonly N[],
  allocations: readonly AllocationEntry[],
): readonly NodeCapacity<N>[] {
  const used = new Map<string, { share: Share; count: number }>();
  for (const allocation of allocations) {
    if (!takesRoom(allocation)) continue;
    const before = used.get(allocation.NodeID) ?? { share: none, count: 0 };
    used.set(allocation.NodeID, { share: plus(before.share, shareOf(allocation)), count: before.count + 1 });
  }
  return nodes.map((node) => {
    const { NodeResources: has, ReservedResources: kept } = node;
    const { share: allocated, count } = used.get(node.ID) ?? { share: none, count: 0 };
    const total = {
      memory: Math.max(0, (has?.Memory.MemoryMB ?? 0) - (kept?.Memory.MemoryMB ?? 0)),
      cpu: Math.max(0, (has?.Cpu.CpuShares ?? 0) - (kept?.Cpu.CpuShares ?? 0)),
    };
    return { node, total, allocated, count };
  });
}

/** The sum over some nodes. */
export function sumOf(list: readonly NodeCapacity<unknown>[]): Omit<NodeCapacity<unknown>, 'node'> {
  return list.reduce<Omit<NodeCapacity<unknown>, 'node'>>(
    (sum, { total, allocated, count }) => ({
      total: plus(sum.total, total),
      allocated: plus(sum.allocated, allocated),
      count: sum.count + count,
    }),
    { total: none, allocated: none, count: 0 },
  );
}

/** Entries by a name, in the order of the names. */
export function groupedBy<T>(
  list: readonly T[],
  nameOf: (entry: T) => string,
): readonly (readonly [string, readonly T[]])[] {
  const groups = new Map<string, T[]>();
  for (const entry of list) {
    const name = nameOf(entry);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [entry]);
    else group.push(entry);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A part of a whole in percent, at most 100 for a bar; 0 of nothing. */
export function percent(part: number, whole: number): number {
  return whole <= 0 ? (part > 0 ? 100 : 0) : Math.round((100 * part) / whole);
}
