/** Rules of the engine that the page shares. */
import { parseCron } from '../src/jobs/periodic/cron-expression.js';

export { causeOf } from '../src/jobs/runs/failure-causes.js';
export { isDeploying, type JobHealth, jobHealth, type StateMark } from '../src/jobs/status/job-health.js';

/** How often these expressions launch on a day on which they launch; those that are due together count once for each. */
export function launchesPerDay(specs: readonly string[]): number {
  return specs.reduce((sum, spec) => {
    const count = parseCron(spec).match(
      ({ seconds, minutes, hours }) => seconds.length * minutes.length * hours.length,
      () => 0,
    );
    return sum + count;
  }, 0);
}
