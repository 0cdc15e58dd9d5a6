/** Steps of recorded transcripts that we answer differently, each with its reason, which docs/interfaces/differences.md prints. */
export interface AcceptedSteps {
  readonly transcript: string;
  readonly steps: readonly number[];
  readonly reason: string;
  /** It depends on which of two things that run at the same time comes first. */
  readonly sometimes?: true;
}

export const tooQuick = 'A task that is just starting or ending may be told a moment earlier or later.';
const staticPorts = 'A static port is taken once on a node; the recorded one had two addresses, and so took it twice.';

export const noTestDriver = 'The driver that the upstream has for its own tests is not there.';

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
  { transcript: 'update-destructive', steps: [5], reason: tooQuick, sometimes: true },
  {
    transcript: 'evaluation-read',
    steps: [13],
    reason: 'A path below an evaluation that does not exist is answered 404, where the upstream fails with 500.',
  },
  {
    transcript: 'http-plumbing',
    steps: [7],
    reason: 'The path of a job without its ID is refused with 400; the upstream looks for a job whose ID is empty.',
  },
  {
    transcript: 'invalid-volumes',
    steps: [22],
    reason: 'A mount that names no volume is refused: no node could start the task.',
  },
  {
    transcript: 'namespace-life',
    steps: [6],
    reason: 'A filter that asks whether a member of absent meta "is not empty" is false.',
  },
  {
    transcript: 'nodes-allocations',
    steps: [5],
    reason: 'A filter is refused where none is taken; the upstream ignores it.',
  },
  {
    transcript: 'nodes-drain',
    steps: [8, 16],
    reason: 'Answers about nodes leave out what only servers among themselves use, and evaluations that were not made.',
  },
  { transcript: 'plan-failed-placements', steps: [9], reason: staticPorts },
  { transcript: 'plan-resources', steps: [10], reason: staticPorts },
  {
    transcript: 'plan-batch-and-system',
    steps: [5, 6],
    reason: 'Instances of a batch job that have finished are not counted among those that stay.',
  },
  {
    transcript: 'plan-identities-and-actions',
    steps: [8],
    reason: 'A task with a secret block is placed nowhere, because no runner here has a provider of secrets.',
  },
  {
    transcript: 'stability',
    steps: [4],
    reason:
      'Marking an earlier version as stable leaves the current one in place; the upstream shows the earlier one as current.',
  },
  {
    transcript: 'submission-formats',
    steps: [12],
    reason: 'A wrong method is told before what is wrong with a parameter.',
  },
  {
    transcript: 'version-tags-refused',
    steps: [8, 9],
    reason: 'Paths that are none are answered 404 without a text.',
  },
  {
    transcript: 'stream-logs-follow',
    steps: [6, 13],
    reason:
      'Following a log from its end tells what comes from now on; a parameter that is no boolean is refused as everywhere.',
  },
  { transcript: 'node-pools', steps: [4], reason: 'Pools of nodes have no hash.' },
  {
    transcript: 'services-of-a-job',
    steps: [3, 5],
    reason: 'The services of a group and of its tasks are registered by one write.',
  },
];
