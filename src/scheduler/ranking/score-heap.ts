/**
 * Candidates that rank by the same rule, best first: their final scores differ from their sums by the same term. A binary heap with the
 * position of each candidate, so that one score can change.
 */
export class ScoreHeap {
  /** The number of scores in a candidate's sum. */
  readonly parts: number;
  /** Any candidate that this heap has held: all share the same values of the spread attributes. */
  readonly example: number;
  readonly #sums: Float64Array;
  readonly #positions: Int32Array;
  readonly #candidates: number[] = [];

  /** `sums` and `positions` are indexed by candidate and shared by all heaps: a candidate is in at most one heap. */
  constructor(parts: number, example: number, sums: Float64Array, positions: Int32Array) {
    this.parts = parts;
    this.example = example;
    this.#sums = sums;
    this.#positions = positions;
  }

  /** The candidate at a heap position; the best is at 0, and the children of p are at 2p + 1 and 2p + 2. */
  at(position: number): number | undefined {
    return this.#candidates[position];
  }

  push(candidate: number): void {
    this.#candidates.push(candidate);
    this.#rise(this.#candidates.length - 1, candidate);
  }

  remove(candidate: number): void {
    const position = this.#positions[candidate] ?? -1;
    const last = this.#candidates.pop();
    this.#positions[candidate] = -1;
    if (last === undefined || last === candidate) return;
    this.#rise(position, last);
    this.#sink(this.#positions[last] ?? position, last);
  }

  #rise(from: number, candidate: number): void {
    let position = from;
    while (position > 0) {
      const above = (position - 1) >> 1;
      const other = this.#candidates[above]!;
      if (!this.#isBefore(candidate, other)) break;
      this.#put(position, other);
      position = above;
    }
    this.#put(position, candidate);
  }

  #sink(from: number, candidate: number): void {
    let position = from;
    for (;;) {
      const below = this.#betterBelow(position);
      if (below < 0) break;
      const other = this.#candidates[below]!;
      if (!this.#isBefore(other, candidate)) break;
      this.#put(position, other);
      position = below;
    }
    this.#put(position, candidate);
  }

  #betterBelow(position: number): number {
    const left = 2 * position + 1;
    if (left >= this.#candidates.length) return -1;
    const right = left + 1;
    if (right >= this.#candidates.length) return left;
    return this.#isBefore(this.#candidates[right]!, this.#candidates[left]!) ? right : left;
  }

  /** Higher sums first; ties go to the node that was registered first. */
  #isBefore(left: number, right: number): boolean {
    const difference = this.#sums[left]! - this.#sums[right]!;
    return difference > 0 || (difference === 0 && left < right);
  }

  #put(position: number, candidate: number): void {
    this.#candidates[position] = candidate;
    this.#positions[candidate] = position;
  }
}
