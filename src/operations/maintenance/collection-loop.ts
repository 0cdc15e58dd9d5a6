import { jobs } from '../../jobs/job-record.js';
import { allocations } from '../../scheduler/allocation.js';
import { deployments } from '../../scheduler/deployment/deployment.js';
import { evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import type { BackgroundLoop } from '../context/engine-context.js';
import { changeOrTime } from '../waiting/change-or-time.js';
import { collect } from './collect.js';

const collected = [jobs, evaluations, allocations, deployments, nodes];

/**
 * Collects by the thresholds: at most once in the interval (five minutes by default), and only when a record has changed or an ended one
 * has reached its threshold. Several processes may do so: each removes what is still there.
 */
export const collectionLoop: BackgroundLoop = {
  name: 'collection',
  run: async (context, signal) => {
    const { interval, ...thresholds } = context.settings.collection;
    while (!signal.aborted) {
      await context.clock.sleep(interval, signal);
      if (signal.aborted) return;
      const swept = await collect(context, thresholds, signal);
      if (swept.isErr()) {
        context.logger.error({ error: swept.error.message }, 'Ended records could not be collected');
        continue;
      }
      const { index, next: moment } = swept.value;
      await changeOrTime(context, { tables: collected, index, moment }, signal);
    }
  },
};
