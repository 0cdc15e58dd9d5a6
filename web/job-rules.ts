/** Rules of the engine that the page shares. */
export { causeOf } from '../src/jobs/runs/failure-causes.js';
export { isDeploying, type JobHealth, jobHealth, type StateMark } from '../src/jobs/status/job-health.js';
