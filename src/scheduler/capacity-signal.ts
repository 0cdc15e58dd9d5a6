import { table } from '../shared/table.js';

/**
 * `capacity`: written whenever capacity was freed or added, so that blocked evaluations are tried again. `removal`: written
 * when allocations were removed; usage of nodes that was read before this write must be read again.
 */
interface CapacitySignal {
  readonly name: 'capacity' | 'removal';
  /** Of `capacity` the write that did it. Of `removal` too, or the last change of the allocation if its node had finished with it. */
  readonly index: number;
}

export const capacitySignals = table<CapacitySignal>('capacity_signals', (signal) => [signal.name]);
