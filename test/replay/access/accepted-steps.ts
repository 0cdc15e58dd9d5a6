import type { AcceptedSteps } from '../http/accepted-steps.js';

/** Steps of recorded transcripts with access control that we answer differently. */
export const acceptedSteps: readonly AcceptedSteps[] = [
  {
    transcript: 'access-malformed-token',
    steps: [48],
    reason: 'The message about an unreadable signature of a token is shorter.',
  },
  {
    transcript: 'namespace-lists',
    steps: [39],
    reason: 'Statuses of jobs have the header of a known leader for a caller who sees no namespace, too.',
  },
];
