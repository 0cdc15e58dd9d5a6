import type { clusterCalls } from '../../api/calls/cluster-calls.js';
import type { Bindings } from '../binding.js';
import { streamEvents } from './stream-events.js';

/** The operations of the calls about the cluster as a whole. */
export const clusterBindings: Bindings<typeof clusterCalls> = {
  events: (context, caller, input, { signal }) => streamEvents(context, caller, input, signal),
};
