import { type AcceptedSteps, noTestDriver, tooQuick } from '../http/accepted-steps.js';

/** Steps of recorded conversations that we answer differently; the same as for exchanges over HTTP. */
export const acceptedConversations: readonly AcceptedSteps[] = [
  {
    transcript: 'action-environment',
    steps: [5],
    reason: 'The folder of a task contains no log of its driver.',
  },
  { transcript: 'exec-drivers', steps: [4, 9], reason: noTestDriver },
  { transcript: 'exec-not-running', steps: [4], reason: tooQuick, sometimes: true },
];
