import { type Deployment, deploymentDescriptions, isActiveDeployment } from '../deployment/deployment.js';
import type { DeploymentUpdate, Intents } from './intents.js';
import type { JobSituation } from './situation.js';

/** The job's deployments that affect the present decisions. */
export interface DeploymentStanding {
  /** The current version's deployment, unless it was successful; failed and cancelled ones are included. */
  current: Deployment | undefined;
  /** A deployment that is over, whose canaries must be stopped. */
  readonly old: Deployment | undefined;
  readonly paused: boolean;
  readonly failed: boolean;
}

/** Ends deployments of older versions. `latest` is the job's newest deployment. */
export function standingOf(
  latest: Deployment | undefined,
  { job }: JobSituation,
  intents: Intents,
): DeploymentStanding {
  if (latest === undefined) return { current: undefined, old: undefined, paused: false, failed: false };
  const outdated = (description: string): DeploymentStanding => {
    if (isActiveDeployment(latest)) intents.deploymentUpdates.push(cancelled(latest, description));
    return { current: undefined, old: latest, paused: false, failed: false };
  };
  if (job === undefined || job.Stop) return outdated(deploymentDescriptions.jobStopped);
  if (latest.JobCreateIndex !== job.CreateIndex || latest.JobVersion !== job.Version) {
    return outdated(deploymentDescriptions.newerVersion);
  }
  if (latest.Status === 'successful') return { current: undefined, old: latest, paused: false, failed: false };
  return {
    current: latest,
    old: undefined,
    paused: latest.Status === 'paused' || latest.Status === 'pending' || latest.Status === 'initializing',
    failed: latest.Status === 'failed',
  };
}

function cancelled({ ID }: Deployment, description: string): DeploymentUpdate {
  return { deploymentId: ID, status: 'cancelled', description };
}
