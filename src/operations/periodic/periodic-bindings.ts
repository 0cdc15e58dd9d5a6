import type { jobControlCalls } from '../../api/calls/job-control-calls.js';
import type { Bindings } from '../binding.js';
import { forceLaunch } from './force-launch.js';

/** The operations of the calls of periodic jobs. */
export const periodicBindings: Pick<Bindings<typeof jobControlCalls>, 'forceLaunch'> = {
  forceLaunch: (context, caller, input) => forceLaunch(context, caller, input),
};
