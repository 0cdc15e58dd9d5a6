import { management } from '../access.js';
import { nothing } from '../answers.js';
import { writeServer } from '../call.js';

/** Tidying up. */
export const maintenanceCalls = {
  /** Collects everything that has ended, however short ago. */
  collectGarbage: writeServer({
    methods: ['PUT'],
    path: '/v1/system/gc',
    access: management,
    summary: 'Collects everything that has ended, however short ago',
    inputs: {},
    judgesWaiting: true,
    answer: nothing(200),
  }),

  /** Counts the summaries of all jobs anew. */
  reconcileSummaries: writeServer({
    methods: ['PUT'],
    path: '/v1/system/reconcile/summaries',
    access: management,
    summary: 'Counts the summaries of all jobs anew',
    inputs: {},
    judgesWaiting: true,
    answer: nothing(200),
  }),
} as const;
