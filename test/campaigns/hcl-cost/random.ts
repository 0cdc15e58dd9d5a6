/** A small deterministic generator (xorshift, 32 bits): equal seeds give equal campaigns. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0 || 1;
  }

  /** From 0 to below 1. */
  next(): number {
    let { state } = this;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.state = state;
    return (state >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}
