import type { Allocation } from '../allocation.js';
import type { AllocationMetric } from '../allocation-metric.js';
import type { StopIntent } from '../reconcile/intents.js';
import { type PlanWrite, preempted, stamped, stopped } from './new-allocation.js';

/** An allocation that was preempted for another one. */
interface PreemptedAllocation {
  readonly before: Allocation;
  readonly by: string;
}

/** The allocations that an evaluation changes and creates, while it is being decided. */
export class PlanDraft {
  readonly write: PlanWrite;
  readonly #changed = new Map<string, Allocation>();
  readonly #placed: Allocation[] = [];
  readonly #preempted: PreemptedAllocation[] = [];
  readonly #failed = new Map<string, AllocationMetric>();
  readonly #queued = new Map<string, number>();
  #measuredUntil: number;

  constructor(write: PlanWrite) {
    this.write = write;
    this.#measuredUntil = write.stopwatch?.() ?? 0;
  }

  /** The allocation with the planned changes. */
  latest(allocation: Allocation): Allocation {
    return this.#changed.get(allocation.ID) ?? allocation;
  }

  change(allocation: Allocation): void {
    this.#changed.set(allocation.ID, stamped(allocation, this.write));
  }

  stop(intent: StopIntent): void {
    this.change(stopped(this.latest(intent.allocation), intent, this.write));
  }

  /** Reverts the allocation to its state in the snapshot. */
  forget(allocation: Allocation): void {
    this.#changed.delete(allocation.ID);
  }

  place(allocation: Allocation): void {
    this.#placed.push(allocation);
  }

  preempt(before: Allocation, by: string): void {
    this.#preempted.push({ before, by });
    this.change(preempted(before, by));
  }

  queue(group: string, by: number): void {
    this.#queued.set(group, (this.#queued.get(group) ?? 0) + by);
  }

  queuedOf(group: string): number {
    return this.#queued.get(group) ?? 0;
  }

  hasPlaced(group: string): boolean {
    return this.#placed.some(({ TaskGroup }) => TaskGroup === group);
  }

  fail(group: string, metric: AllocationMetric): void {
    this.#failed.set(group, metric);
  }

  /** The metric with the time since the previous measured one, or since the beginning. */
  measured(metric: AllocationMetric): AllocationMetric {
    const { stopwatch } = this.write;
    if (stopwatch === undefined) return metric;
    const from = this.#measuredUntil;
    this.#measuredUntil = stopwatch();
    return { ...metric, AllocationTime: Math.round(this.#measuredUntil - from) };
  }

  failureOf(group: string): AllocationMetric | undefined {
    return this.#failed.get(group);
  }

  get placed(): readonly Allocation[] {
    return this.#placed;
  }

  get preempted(): readonly PreemptedAllocation[] {
    return this.#preempted;
  }

  /** All records to write. */
  get allocations(): readonly Allocation[] {
    return [...this.#changed.values(), ...this.#placed];
  }

  get failed(): Readonly<Record<string, AllocationMetric>> | undefined {
    return this.#failed.size === 0 ? undefined : Object.fromEntries(this.#failed);
  }

  /** By group: allocations that have no node yet. */
  get queued(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#queued);
  }
}
