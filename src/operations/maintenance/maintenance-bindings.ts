import type { maintenanceCalls } from '../../api/calls/maintenance-calls.js';
import type { Bindings } from '../binding.js';
import { collectGarbage } from './collect-garbage.js';
import { reconcileSummaries } from './reconcile-summaries.js';

/** The operations of the maintenance calls. */
export const maintenanceBindings: Bindings<typeof maintenanceCalls> = {
  collectGarbage: (context, caller) => collectGarbage(context, caller),
  reconcileSummaries: (context, caller) => reconcileSummaries(context, caller).map(() => undefined),
};
