import type { Capacity } from '../cluster/capacity.js';
import type { SchedulerAlgorithm } from '../scheduler-configuration.js';

/** The highest fit value before it is scaled to 0…1. */
const highestFit = 18;

/**
 * How well the load suits the node, 0 to 1: a full node is best for `binpack`, an empty one for `spread`. `used` includes the new allocation
 * and may exceed the capacity.
 */
export function fitScore(algorithm: SchedulerAlgorithm, capacity: Capacity, used: Capacity): number {
  const free = powerOfTen(freeShare(used.cpu, capacity.cpu)) + powerOfTen(freeShare(used.memory, capacity.memory));
  const fit = algorithm === 'spread' ? free - 2 : 20 - free;
  return Math.min(Math.max(fit, 0), highestFit) / highestFit;
}

/** −2/count and less: the node already runs `own` allocations of the group. */
export function antiAffinityScore(own: number, count: number): number {
  return -(own + 1) / Math.max(count, 1);
}

/** Near 1 for few allocations of low priority, near 0 for many or high-priority ones. */
export function preemptionScore(priorities: readonly number[]): number {
  const highest = Math.max(...priorities);
  const sum = priorities.reduce((total, priority) => total + priority, 0);
  const net = highest === 0 ? 0 : highest + sum / highest;
  return 1 / (1 + Math.exp(0.0048 * (net - 2048)));
}

function freeShare(used: number, capacity: number): number {
  return capacity > 0 ? 1 - used / capacity : 0;
}

/** `10 ** exponent`, several times as fast on current engines; the last digit may differ. */
function powerOfTen(exponent: number): number {
  return Math.exp(exponent * Math.LN10);
}
