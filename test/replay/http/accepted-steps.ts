/** Steps of recorded transcripts that we answer differently, each with its reason, which docs/interfaces/differences.md prints. */
export interface AcceptedSteps {
  readonly transcript: string;
  readonly steps: readonly number[];
  readonly reason: string;
  /** It depends on which of two things that run at the same time comes first. */
  readonly sometimes?: true;
}

export const tooQuick = 'A task that is starting or ending may be reported slightly earlier or later.';
const staticPorts = 'A static port is taken once on a node; the recorded one had two addresses, and so took it twice.';

export const noTestDriver = 'The driver that Nomad uses in its own tests does not exist here.';

export const acceptedSteps: readonly AcceptedSteps[] = [
  {
    transcript: 'allocation-mock-driver',
    steps: [2],
    reason: noTestDriver,
  },
  { transcript: 'allocation-environment', steps: [5], reason: tooQuick, sometimes: true },
  { transcript: 'deployment-canary-promote', steps: [11], reason: tooQuick, sometimes: true },
  { transcript: 'allocation-restart', steps: [9], reason: tooQuick, sometimes: true },
  { transcript: 'deployment-promote-too-early', steps: [14], reason: tooQuick, sometimes: true },
  { transcript: 'revert-running', steps: [9], reason: tooQuick, sometimes: true },
  {
    transcript: 'periodic-force-overlap',
    steps: [10, 20],
    reason: 'A job that is forced twice within one second is launched once: the second is in the ID of the launch.',
    sometimes: true,
  },
  { transcript: 'update-destructive', steps: [5], reason: tooQuick, sometimes: true },
  {
    transcript: 'invalid-volumes',
    steps: [22],
    reason: 'A mount that names no volume is refused: no node could start the task.',
  },
  {
    transcript: 'namespace-life',
    steps: [6],
    reason: 'Lists of namespaces accept a filter; Nomad ignores it.',
  },
  {
    transcript: 'nodes-drain',
    steps: [8],
    reason: 'The end of a drain that creates no evaluation has no evaluation index.',
  },
  { transcript: 'plan-failed-placements', steps: [9], reason: staticPorts },
  { transcript: 'plan-resources', steps: [10], reason: staticPorts },
  {
    transcript: 'plan-identities-and-actions',
    steps: [4],
    reason: 'A task that gets the token of an identity is not placed, because no runner here makes such tokens.',
  },
  {
    transcript: 'plan-identities-and-actions',
    steps: [8],
    reason: 'A task with a secret block is not placed, because no runner here has a provider of secrets.',
  },
  {
    transcript: 'stability',
    steps: [4],
    reason: 'Marking an earlier version as stable keeps the current version, which Nomad replaces by the earlier one.',
  },
  {
    transcript: 'submission-formats',
    steps: [12],
    reason: 'A wrong method is reported before an invalid parameter.',
  },
];
