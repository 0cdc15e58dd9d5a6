/** Rules of the engine that the page shares. */
export { causeOf } from '../src/jobs/runs/failure-causes.js';
export { type JobHealth, jobHealth, type StateMark } from '../src/jobs/status/job-health.js';

/** Whether a deployment is under way. */
export function isDeploying(deployment: { readonly Status: string } | null | undefined): boolean {
  return deployment != null && /^(?:running|paused|pending|blocked|unblocking|initializing)$/.test(deployment.Status);
}
