import { table } from '../shared/table.js';

/**
 * `capacity`: written whenever capacity was freed or added: the blocked evaluations are worth another look. `removal`: written when
 * allocations were removed: what is known of the nodes' usage as of an earlier write than this one has to be read anew.
 */
export interface CapacitySignal {
  readonly name: 'capacity' | 'removal';
  /** Of `capacity` the write that did it. Of `removal` too, or the last change of the allocation if its node had finished with it. */
  readonly index: number;
}

export const capacitySignals = table<CapacitySignal>('capacity_signals', (signal) => [signal.name]);
