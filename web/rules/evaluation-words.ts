import { counted } from './durations.js';

const causes: Readonly<Record<string, string>> = {
  'job-register': 'The job was registered or evaluated again',
  'job-deregister': 'The job was stopped',
  'periodic-job': 'A launch of the schedule was due',
  'node-drain': 'A node is drained',
  'node-update': 'A node changed',
  'alloc-stop': 'An allocation was stopped by a person',
  scheduled: 'It was due',
  'rolling-update': 'The next step of an update was due',
  'deployment-watcher': 'The deployment continued',
  'failed-follow-up': 'An earlier evaluation had failed',
  'max-plan-attempts': 'An earlier evaluation could not carry out its plan',
  'alloc-failure': 'An allocation failed',
  'queued-allocs': 'Allocations waited for room',
  preemption: 'An allocation was stopped to make room for another job',
  'job-scaling': 'The job was scaled',
  'max-disconnect-timeout': 'A node was away for too long',
  reconnect: 'A node came back',
  'alloc-reschedule': 'The delay of a replacement was over',
};

/** What triggered an evaluation, as a sentence without its full stop. */
export function causeText(trigger: string): string {
  return causes[trigger] ?? trigger.replaceAll('-', ' ');
}

/** Members of what was decided for a group, in the order in which they are said. */
const deeds = [
  ['Place', 'place'],
  ['Canary', 'place as canary'],
  ['DestructiveUpdate', 'replace by the new version'],
  ['InPlaceUpdate', 'update in place'],
  ['Migrate', 'move'],
  ['RescheduleNow', 'replace after a failure'],
  ['RescheduleLater', 'replace later'],
  ['Stop', 'stop'],
  ['Preemptions', 'stop of other jobs'],
  ['Disconnect', 'mark as unknown'],
  ['Reconnect', 'take back'],
  ['Ignore', 'leave as they are'],
] as const;

type Updates = Readonly<Partial<Record<(typeof deeds)[number][0], number>>>;

/** What was decided for a group: `place 2, leave as they are 1`. */
export function decisionText(updates: Updates): string {
  const parts = deeds.flatMap(([member, words]) => {
    const count = updates[member] ?? 0;
    return count > 0 ? [`${words} ${count}`] : [];
  });
  return parts.length === 0 ? 'nothing to do' : parts.join(', ');
}

interface Metric {
  readonly NodesEvaluated: number;
  readonly NodesFiltered: number;
  readonly NodesExhausted: number;
  readonly NodesInPool: number;
  readonly NodePool: string;
  readonly NodesAvailable: Readonly<Record<string, number>> | null;
  readonly ConstraintFiltered: Readonly<Record<string, number>> | null;
  readonly DimensionExhausted: Readonly<Record<string, number>> | null;
  readonly CoalescedFailures: number;
}

/** Why allocations of a group could not be placed, as sentences. */
export function failureSentences(metric: Metric): readonly string[] {
  const { NodesEvaluated, NodesFiltered, NodesExhausted, NodesInPool, NodePool, CoalescedFailures } = metric;
  const pool = NodePool === '' ? 'its pool' : `the pool ${NodePool}`;
  const listed = (of: Readonly<Record<string, number>> | null): string =>
    Object.entries(of ?? {})
      .sort(([, a], [, b]) => b - a)
      .map(([what, count]) => `${what} (${count})`)
      .join(', ');
  const first =
    NodesInPool === 0
      ? `No node of ${pool} is ready in its datacenters.`
      : `${counted(NodesEvaluated, 'node')} of ${pool} ${NodesEvaluated === 1 ? 'was' : 'were'} examined.`;
  const filtered = listed(metric.ConstraintFiltered);
  const short = listed(metric.DimensionExhausted);
  return [
    first,
    ...(NodesFiltered > 0
      ? [`${counted(NodesFiltered, 'node')} can never take it${filtered === '' ? '' : `: ${filtered}`}.`]
      : []),
    ...(NodesExhausted > 0
      ? [
          `${counted(NodesExhausted, 'node')} ${NodesExhausted === 1 ? 'lacks' : 'lack'} room${short === '' ? '' : `: ${short}`}.`,
        ]
      : []),
    ...(CoalescedFailures > 0
      ? [
          `${counted(CoalescedFailures, 'further allocation')} of the group ${CoalescedFailures === 1 ? 'waits' : 'wait'} with it.`,
        ]
      : []),
  ];
}

interface Linked {
  readonly ID: string;
  readonly PreviousEval?: string;
  readonly NextEval?: string;
  readonly BlockedEval?: string;
  readonly CreateIndex: number;
}

/** How an evaluation came from the one before it. */
export type Relation = 'first' | 'next' | 'blocked' | 'follows';

/** A chain of evaluations in the order in which they were created, each with its relation to an earlier one. */
export function chainOf<E extends Linked>(
  evaluations: readonly E[],
): readonly { readonly evaluation: E; readonly relation: Relation }[] {
  const ordered = [...evaluations].sort((a, b) => a.CreateIndex - b.CreateIndex || (a.ID < b.ID ? -1 : 1));
  return ordered.map((evaluation, at) => {
    const earlier = ordered.slice(0, at);
    if (earlier.some(({ BlockedEval }) => BlockedEval === evaluation.ID)) return { evaluation, relation: 'blocked' };
    if (earlier.some(({ NextEval }) => NextEval === evaluation.ID)) return { evaluation, relation: 'next' };
    const { PreviousEval = '' } = evaluation;
    return { evaluation, relation: PreviousEval === '' && at === 0 ? 'first' : 'follows' };
  });
}
