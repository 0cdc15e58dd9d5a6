/** `<job>.<group>[<index>]`: the name of an allocation. */
export function allocationName(jobId: string, group: string, index: number): string {
  return `${jobId}.${group}[${index}]`;
}

/** The index in an allocation's name; 0 when the name has none. */
export function indexFromName(name: string): number {
  const open = name.lastIndexOf('[');
  const index = Number(name.slice(open + 1, -1));
  return open >= 0 && Number.isInteger(index) ? index : 0;
}

/** Hands out the lowest names that are not in use. */
export function freeNames(jobId: string, group: string, used: Iterable<string>): () => string {
  const taken = new Set<number>();
  for (const name of used) taken.add(indexFromName(name));
  let next = 0;
  return () => {
    while (taken.has(next)) next += 1;
    taken.add(next);
    return allocationName(jobId, group, next);
  };
}
