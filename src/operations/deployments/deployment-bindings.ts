import type { deploymentActionCalls } from '../../api/calls/deployment-calls.js';
import type { Bindings } from '../binding.js';
import {
  failDeployment,
  pauseDeployment,
  promoteDeployment,
  setAllocationHealth,
  unblockDeployment,
} from './actions.js';

/** The operations of the calls that change deployments. */
export const deploymentActionBindings: Bindings<typeof deploymentActionCalls> = {
  fail: (context, caller, { id }) => failDeployment(context, caller, { deploymentId: id }),
  pause: (context, caller, { id, pause = false }) => pauseDeployment(context, caller, { deploymentId: id, pause }),
  promote: (context, caller, { id, all, groups }) =>
    promoteDeployment(context, caller, {
      deploymentId: id,
      ...(all === true ? {} : { groups: groups ?? [] }),
    }),
  setHealth: (context, caller, { id, healthy, unhealthy }) =>
    setAllocationHealth(context, caller, {
      deploymentId: id,
      healthy: healthy ?? [],
      unhealthy: unhealthy ?? [],
    }),
  unblock: (context, caller, { id }) => unblockDeployment(context, caller, { deploymentId: id }),
};
