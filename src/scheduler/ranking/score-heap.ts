/**
 * Candidates of equal standing, best first: those whose final scores differ by one and the same number. A binary heap that knows where
 * each candidate is, so that the score of one can change.
 */
export class ScoreHeap {
  /** How many scores a candidate's sum is made of. */
  readonly parts: number;
  /** Any candidate that this heap has held: all of them have the same values of the spread attributes. */
  readonly example: number;
  readonly #sums: Float64Array;
  readonly #places: Int32Array;
  readonly #candidates: number[] = [];

  /** `sums` and `places` are by candidate and shared by all heaps: a candidate is in one heap at most. */
  constructor(parts: number, example: number, sums: Float64Array, places: Int32Array) {
    this.parts = parts;
    this.example = example;
    this.#sums = sums;
    this.#places = places;
  }

  /** The candidate at a place of the heap; the best is at 0, and behind place p follow 2p + 1 and 2p + 2. */
  at(place: number): number | undefined {
    return this.#candidates[place];
  }

  push(candidate: number): void {
    this.#candidates.push(candidate);
    this.#rise(this.#candidates.length - 1, candidate);
  }

  remove(candidate: number): void {
    const place = this.#places[candidate] ?? -1;
    const last = this.#candidates.pop();
    this.#places[candidate] = -1;
    if (last === undefined || last === candidate) return;
    this.#rise(place, last);
    this.#sink(this.#places[last] ?? place, last);
  }

  #rise(from: number, candidate: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = this.#candidates[above]!;
      if (!this.#isBefore(candidate, other)) break;
      this.#put(place, other);
      place = above;
    }
    this.#put(place, candidate);
  }

  #sink(from: number, candidate: number): void {
    let place = from;
    for (;;) {
      const below = this.#betterBelow(place);
      if (below < 0) break;
      const other = this.#candidates[below]!;
      if (!this.#isBefore(other, candidate)) break;
      this.#put(place, other);
      place = below;
    }
    this.#put(place, candidate);
  }

  #betterBelow(place: number): number {
    const left = 2 * place + 1;
    if (left >= this.#candidates.length) return -1;
    const right = left + 1;
    if (right >= this.#candidates.length) return left;
    return this.#isBefore(this.#candidates[right]!, this.#candidates[left]!) ? right : left;
  }

  /** Higher sums first; of equal ones the node that was registered first. */
  #isBefore(left: number, right: number): boolean {
    const difference = this.#sums[left]! - this.#sums[right]!;
    return difference > 0 || (difference === 0 && left < right);
  }

  #put(place: number, candidate: number): void {
    this.#candidates[place] = candidate;
    this.#places[candidate] = place;
  }
}
