import { err, ok, type Result } from 'neverthrow';
import type { AllocatedTaskResources } from '../allocated-resources.js';
import type { TaskRequest } from '../feasibility/requirements.js';
import type { Node } from '../node.js';

type CpuShare = AllocatedTaskResources['Cpu'];

/** Assigns unreserved whole cores to each request, lowest numbers first. */
export function assignCores(
  requests: readonly TaskRequest<number>[],
  node: Node,
  inUse: ReadonlySet<number>,
): Result<ReadonlyMap<string, CpuShare>, string> {
  const free = reservableCores(node).filter((core) => !inUse.has(core));
  const rate = clockRate(node);
  const byTask = new Map<string, CpuShare>();
  for (const { task, request } of requests) {
    if (free.length < request) return err('cores');
    byTask.set(task, { CpuShares: Math.floor(rate * request), ReservedCores: free.splice(0, request) });
  }
  return ok(byTask);
}

function reservableCores(node: Node): number[] {
  const { ReservableCpuCores, TotalCpuCores } = node.NodeResources.Cpu;
  return ReservableCpuCores === null
    ? Array.from({ length: TotalCpuCores }, (_, core) => core)
    : [...ReservableCpuCores];
}

/** MHz of one core. */
function clockRate(node: Node): number {
  const { CpuShares, TotalCpuCores } = node.NodeResources.Cpu;
  return TotalCpuCores > 0 ? CpuShares / TotalCpuCores : 0;
}
