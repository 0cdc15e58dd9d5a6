import { table } from '../shared/table.js';

/**
 * `capacity`: written whenever capacity was freed or added: the blocked evaluations are worth another look. `removal`: written whenever
 * allocations were removed that a node had not finished with: what is known of the nodes' usage has to be read anew.
 */
export interface CapacitySignal {
  readonly name: 'capacity' | 'removal';
  /** The write that did it. */
  readonly index: number;
}

export const capacitySignals = table<CapacitySignal>('capacity_signals', (signal) => [signal.name]);
