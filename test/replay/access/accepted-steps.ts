import type { AcceptedSteps } from '../http/accepted-steps.js';

/** Steps of recorded transcripts with access control that we answer differently. */
export const acceptedSteps: readonly AcceptedSteps[] = [
  {
    transcript: 'namespace-lists',
    steps: [39],
    reason: 'Statuses of jobs have the header of a known leader for a caller who sees no namespace, too.',
  },
];
