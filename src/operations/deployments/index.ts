import type { BackgroundLoop } from '../context/engine-context.js';
import { deploymentLoop } from './deployment-loop.js';

export type { ActOnDeploymentError, ChangedDeployment, DeploymentReference } from './act-on-deployment.js';
export {
  failDeployment,
  type PauseDeploymentInput,
  type PromoteDeploymentInput,
  pauseDeployment,
  promoteDeployment,
  type SetAllocationHealthInput,
  setAllocationHealth,
  unblockDeployment,
} from './actions.js';

/** The background loops of this area. */
export const deploymentLoops: readonly BackgroundLoop[] = [deploymentLoop];
