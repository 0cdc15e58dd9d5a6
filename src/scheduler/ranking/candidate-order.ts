import type { NodeScores } from './assess-node.js';
import { finalScore, type SpreadScore, summed } from './scores.js';

/** A candidate node with the components of its final score. */
interface Rival {
  readonly candidate: number;
  readonly final: number;
  /** Sum over the group's spreads. */
  readonly spread: number;
  readonly penalised: boolean;
  /** Its position, from which later candidates are found; undefined for a penalised one. */
  readonly heap: ScoreHeap | undefined;
  readonly position: number;
}

/**
 * Nodes with room, ordered by final score. A candidate is a node's index in `slots`. Within a heap all nodes have the same
 * values of the spread attributes and the same number of scores, so a placement that changes spreads changes no order within a heap.
 */
export class CandidateOrder {
  readonly #slots: readonly number[];
  readonly #spread: SpreadScore;
  readonly #sums: Float64Array;
  readonly #positions: Int32Array;
  readonly #heapOf: (ScoreHeap | undefined)[] = [];
  readonly #heaps = new Map<string, ScoreHeap[]>();

  constructor(slots: readonly number[], spread: SpreadScore) {
    this.#slots = slots;
    this.#spread = spread;
    this.#sums = new Float64Array(slots.length);
    this.#positions = new Int32Array(slots.length).fill(-1);
  }

  add(candidate: number, scores: NodeScores): void {
    const { sum, parts } = summed(scores);
    this.#sums[candidate] = sum;
    const heap = this.#heapFor(candidate, parts);
    this.#heapOf[candidate] = heap;
    heap.push(candidate);
  }

  /** No effect for a candidate that is not in the order. */
  remove(candidate: number): void {
    this.#heapOf[candidate]?.remove(candidate);
    this.#heapOf[candidate] = undefined;
  }

  /** The best candidates, best first, at most `amount`. `penalised` are candidates where an earlier allocation has failed. */
  best(amount: number, penalised: readonly number[]): readonly Rival[] {
    // Their scores for this choice differ from those that order the heaps.
    for (const candidate of penalised) this.#heapOf[candidate]?.remove(candidate);
    const best = this.#top(amount, penalised);
    for (const candidate of penalised) this.#heapOf[candidate]?.push(candidate);
    return best;
  }

  /** The heads of the heaps compete; each winner is followed by the candidates below it. */
  #top(amount: number, penalised: readonly number[]): readonly Rival[] {
    const rivals: Rival[] = penalised.map((candidate) => this.#penalisedRival(candidate));
    for (const heaps of this.#heaps.values()) {
      for (const heap of heaps) this.#join(rivals, heap, 0, this.#spread.scoreAt(this.#slotOf(heap.example)));
    }
    const best: Rival[] = [];
    while (best.length < amount) {
      const winner = takeBest(rivals);
      if (winner === undefined) break;
      best.push(winner);
      if (winner.heap === undefined) continue;
      this.#join(rivals, winner.heap, 2 * winner.position + 1, winner.spread);
      this.#join(rivals, winner.heap, 2 * winner.position + 2, winner.spread);
    }
    return best;
  }

  #join(rivals: Rival[], heap: ScoreHeap, position: number, spread: number): void {
    const candidate = heap.at(position);
    if (candidate === undefined) return;
    const final = finalScore(this.#sums[candidate] ?? 0, heap.parts, { spread, penalised: false });
    rivals.push({ candidate, final, spread, penalised: false, heap, position });
  }

  #penalisedRival(candidate: number): Rival {
    const spread = this.#spread.scoreAt(this.#slotOf(candidate));
    const parts = this.#heapOf[candidate]?.parts ?? 1;
    const final = finalScore(this.#sums[candidate] ?? 0, parts, { spread, penalised: true });
    return { candidate, final, spread, penalised: true, heap: undefined, position: 0 };
  }

  #slotOf(candidate: number): number {
    return this.#slots[candidate] ?? -1;
  }

  #heapFor(candidate: number, parts: number): ScoreHeap {
    const values = this.#spread.valuesAt(this.#slotOf(candidate));
    let byParts = this.#heaps.get(values);
    if (byParts === undefined) {
      byParts = [];
      this.#heaps.set(values, byParts);
    }
    let heap = byParts.find((known) => known.parts === parts);
    if (heap === undefined) {
      heap = new ScoreHeap(parts, candidate, this.#sums, this.#positions);
      byParts.push(heap);
    }
    return heap;
  }
}

/** Ties go to the node that was registered first. */
function takeBest(rivals: Rival[]): Rival | undefined {
  let best: Rival | undefined;
  for (const rival of rivals) if (best === undefined || isAhead(rival, best)) best = rival;
  if (best !== undefined) rivals.splice(rivals.indexOf(best), 1);
  return best;
}

function isAhead(rival: Rival, leader: Rival): boolean {
  return rival.final > leader.final || (rival.final === leader.final && rival.candidate < leader.candidate);
}

/**
 * Candidates that rank by the same rule, best first: their final scores differ from their sums by the same term. A binary heap with the
 * position of each candidate, so that one score can change.
 */
class ScoreHeap {
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
      const other = this.#candidates[above];
      if (other === undefined || !this.#isBefore(candidate, other)) break;
      this.#put(position, other);
      position = above;
    }
    this.#put(position, candidate);
  }

  #sink(from: number, candidate: number): void {
    let position = from;
    for (;;) {
      const below = this.#betterBelow(position);
      const other = this.#candidates[below];
      if (other === undefined || !this.#isBefore(other, candidate)) break;
      this.#put(position, other);
      position = below;
    }
    this.#put(position, candidate);
  }

  /** The position of the better child; beyond the end when there is none. */
  #betterBelow(position: number): number {
    const at = 2 * position + 1;
    const [left, right] = [this.#candidates[at], this.#candidates[at + 1]];
    return left !== undefined && right !== undefined && this.#isBefore(right, left) ? at + 1 : at;
  }

  /** Higher sums first; ties go to the node that was registered first. */
  #isBefore(left: number, right: number): boolean {
    const difference = (this.#sums[left] ?? 0) - (this.#sums[right] ?? 0);
    return difference > 0 || (difference === 0 && left < right);
  }

  #put(position: number, candidate: number): void {
    this.#candidates[position] = candidate;
    this.#positions[candidate] = position;
  }
}
