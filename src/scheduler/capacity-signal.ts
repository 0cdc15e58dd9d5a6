import { table } from '../shared/table.js';

/**
 * `capacity`: written when capacity was freed or added, so that blocked evaluations are retried. `removal`: written
 * when allocations were removed: node usage that was read before this write must be read again.
 */
interface CapacitySignal {
  readonly name: 'capacity' | 'removal';
  /** For `capacity`, the index of the write. For `removal`, the same, or the allocation's last change if its node had finished with it. */
  readonly index: number;
}

export const capacitySignals = table<CapacitySignal>('capacity_signals', (signal) => [signal.name]);
