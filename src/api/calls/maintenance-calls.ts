import { management } from '../access.js';
import { nothing } from '../answers.js';
import { writeServer } from '../call.js';

/** Maintenance. */
export const maintenanceCalls = {
  /** Removes all ended records, regardless of their age. */
  collectGarbage: writeServer({
    methods: ['PUT'],
    path: '/v1/system/gc',
    access: management,
    summary: 'Removes all ended records, regardless of their age',
    inputs: {},
    judgesWaiting: true,
    answer: nothing(200),
  }),

  /** Recomputes the summaries of all jobs. */
  reconcileSummaries: writeServer({
    methods: ['PUT'],
    path: '/v1/system/reconcile/summaries',
    access: management,
    summary: 'Recomputes the summaries of all jobs',
    inputs: {},
    judgesWaiting: true,
    answer: nothing(200),
  }),
} as const;
