/** How many allocations of a job are on each node, by group. */
export class OwnAllocations {
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
