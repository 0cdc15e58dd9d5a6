import { table } from '../shared/table.js';

/** Written whenever capacity was freed or added: the blocked evaluations are worth another look. */
export interface CapacitySignal {
  readonly name: 'capacity';
  /** The write that freed it. */
  readonly index: number;
}

export const capacitySignals = table<CapacitySignal>('capacity_signals', (signal) => [signal.name]);
