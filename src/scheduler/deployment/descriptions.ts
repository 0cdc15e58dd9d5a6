/** Status descriptions of deployments. Existing clients compare these strings. */
export const deploymentDescriptions = {
  running: 'Deployment is running',
  needsPromotion: 'Deployment is running but requires manual promotion',
  autoPromotion: 'Deployment is running pending automatic promotion',
  paused: 'Deployment is paused',
  successful: 'Deployment completed successfully',
  jobStopped: 'Cancelled because job is stopped',
  newerVersion: 'Cancelled due to newer version of job',
  unhealthy: 'Failed due to unhealthy allocations',
  progressDeadline: 'Failed due to progress deadline',
  failedByUser: 'Deployment marked as failed',
} as const;

/** The suffix of a failed deployment's description about reverting. */
export const rollbackDescriptions = {
  to: (version: number): string => `rolling back to job version ${version}`,
  same: (version: number): string =>
    `not rolling back to stable job version ${version} as current job has same specification`,
  none: 'no stable job version to auto revert to',
} as const;
