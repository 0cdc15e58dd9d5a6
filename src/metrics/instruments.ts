/** The most functions that measurements distinguish. Names come from code, and may all the same be many. */
const mostFunctions = 200;

/** The label of functions beyond the bound. */
const otherFunctions = '_other';

/** Gives the label of a function: its name, for the first ones. */
export function functionLabels(): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= mostFunctions) return otherFunctions;
    known.add(name);
    return name;
  };
}

/** The metrics, in the conventions of OpenTelemetry: dotted names, seconds, units in braces for counted things. */
export interface Instrument {
  /** A counter sums, a gauge has the last value, a histogram sorts values into buckets. */
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** `s` are seconds, `1` is dimensionless, words in braces name the counted things. */
  readonly unit: string;
  readonly description: string;
  /** Names of its labels; their values come from closed sets, or are names of functions. */
  readonly labels: readonly string[];
  /** For a counter: the sets of labels that are exported at zero before anything is counted. */
  readonly initial?: readonly MetricLabels[];
  /** Upper bounds of a histogram's buckets, ascending. */
  readonly buckets?: readonly number[];
}

/** The bounds that OpenTelemetry recommends for durations of requests, in seconds. */
const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** The same for operations that may take longer. */
const waitingSeconds = [...requestSeconds, 30, 60, 300, 1800, 7200, 43_200];

/** `values`: the usual values of each label. Alerts on an increase miss the first event of a series that does not begin at zero. */
function counter(
  unit: string,
  description: string,
  values: Readonly<Record<string, readonly string[]>> = {},
): Instrument {
  const initial = Object.entries(values).reduce<readonly MetricLabels[]>(
    (sets, [label, texts]) => sets.flatMap((set) => texts.map((text) => ({ ...set, [label]: text }))),
    [{}],
  );
  return { kind: 'counter', unit, description, labels: Object.keys(values), initial };
}

function gauge(unit: string, description: string, ...labels: string[]): Instrument {
  return { kind: 'gauge', unit, description, labels };
}

function seconds(buckets: readonly number[], description: string, ...labels: string[]): Instrument {
  return { kind: 'histogram', unit: 's', description, labels, buckets };
}

const destinations = ['generic', 'chat-a', 'chat-b', 'email'];
/** The names of the background loops. */
const loops = [
  'collection',
  'command-relay',
  'deployments',
  'drains',
  'engine',
  'evaluations',
  'job-restarts',
  'node-liveness',
  'notification-deliveries',
  'notification-recoveries',
  'notification-retention',
  'periodic-launches',
  'token-expiry',
  'variable-locks',
  'waiting-jobs',
];

/** All metrics. */
export const instruments = {
  'http.server.request.duration': seconds(
    requestSeconds,
    'Duration of requests to the interface until the head of the answer, including the wait of blocking queries',
    'http.request.method',
    'http.route',
    'http.response.status_code',
  ),
  'signalbox.evaluation.duration': seconds(requestSeconds, 'Duration of the work on one evaluation and its write'),
  'signalbox.evaluations': counter('{evaluation}', 'Evaluations that ended', {
    status: ['complete', 'failed', 'canceled', 'blocked'],
  }),
  'signalbox.allocations': counter('{allocation}', 'Changes of the client status of allocations', {
    client_status: ['pending', 'running', 'complete', 'failed', 'lost', 'unknown'],
  }),
  'signalbox.deployments': counter('{deployment}', 'Changes of the status of deployments', {
    status: ['running', 'paused', 'successful', 'failed', 'cancelled'],
  }),
  'signalbox.job.starts': counter('{job}', 'Jobs that were registered, dispatched or launched', {
    reason: ['registered', 'dispatched', 'launched'],
  }),
  'signalbox.loop.failures': counter('{failure}', 'Failures of background loops, which start again', { loop: loops }),
  'signalbox.function.runs': counter('{run}', 'Runs of functions that ended, as recorded by this process', {
    function: [otherFunctions],
    outcome: ['succeeded', 'failed', 'cancelled', 'timed_out'],
  }),
  'signalbox.function.attempt.lag': seconds(
    waitingSeconds,
    'Time from the due time of a run of a function to the start of its attempt',
    'function',
  ),
  'signalbox.function.attempt.duration': seconds(waitingSeconds, 'Duration of attempts of functions', 'function'),
  'signalbox.function.queued': gauge('{run}', 'Runs of functions that are due and not started', 'function'),
  'signalbox.function.oldest.wait': gauge('s', 'Time since the oldest due run of a function was due', 'function'),
  'signalbox.notification.events': counter('{event}', 'Notification events that were accepted'),
  'signalbox.notification.deliveries': counter('{delivery}', 'Deliveries that ended', {
    outcome: ['delivered', 'partly_delivered', 'dead', 'cancelled'],
  }),
  'signalbox.notification.attempts': counter('{attempt}', 'Attempts at destinations', {
    kind: destinations,
    outcome: ['delivered'],
    class: ['none'],
  }),
  'signalbox.notification.attempt.duration': seconds(requestSeconds, 'Duration of attempts at destinations', 'kind'),
  'signalbox.notification.attempt.lag': seconds(
    waitingSeconds,
    'Time from the due time of an attempt to its start',
    'kind',
  ),
  'signalbox.notification.verifications': counter('{verification}', 'Verifications of destinations', {
    kind: destinations,
    outcome: ['verified', 'refused', 'unanswered'],
  }),
  'signalbox.notification.breaker.changes': counter('{change}', 'Circuit breakers that opened or closed', {
    kind: destinations,
    to: ['open', 'closed'],
  }),
  'signalbox.notification.queues': gauge('{queue}', 'Delivery queues that this process works on'),
  'signalbox.store.index': gauge('1', 'Index of the last write'),
  'signalbox.store.size': gauge('By', 'Size of the store on its medium', 'part'),
  'signalbox.store.table.size': gauge('By', 'Size of a table of the store with its indexes', 'table'),
  'signalbox.store.table.rows': gauge(
    '{row}',
    'Rows of a table of the store as the database estimates them, and dead ones, which are still to be removed',
    'table',
    'state',
  ),
  'signalbox.store.snapshot.age': gauge(
    's',
    'Age of the oldest snapshot in the database, which keeps dead rows from being removed',
  ),
  'signalbox.store.snapshots.hidden': gauge(
    '{session}',
    'Sessions of other roles in the database whose snapshots the store may not see',
  ),
  'signalbox.store.chain.length': gauge('{batch}', 'Batches in the chain of the store'),
  'signalbox.store.chain.age': gauge('s', 'Age of the oldest batch in the chain of the store'),
  'signalbox.store.batches': counter('{batch}', 'Batches of writes that this process has committed', {
    mode: ['optimistic', 'turn'],
  }),
  'signalbox.store.races.lost': counter(
    '{race}',
    'Batches that this process has decided again because another one had committed before',
  ),
  'signalbox.store.connections': counter('{connection}', 'Connections to the store that this process has opened'),
  'signalbox.store.round.trips': counter('{round_trip}', 'Times that this process has sent statements to the store'),
  'signalbox.queries.waiting': gauge('{query}', 'Readers that wait for a change'),
  'signalbox.nodes.ready': gauge('{node}', 'Nodes that are ready'),
  'signalbox.evaluations.blocked': gauge('{evaluation}', 'Evaluations that wait for room'),
  'signalbox.evaluations.pending': gauge('{evaluation}', 'Evaluations that wait for their turn'),
} as const satisfies Readonly<Record<string, Instrument>>;

/** The name of one of the `instruments`. */
export type MetricName = keyof typeof instruments;

/** Label values come from closed sets; never an ID, a URL or a name, except those of functions of the host's code. */
export type MetricLabels = Readonly<Record<string, string>>;

/** The measurements of one instrument with one set of labels. */
export interface Measured {
  /** The labels of the measurements. */
  readonly labels: MetricLabels;
  /** The sum of a counter or histogram, the last value of a gauge. */
  readonly value: number;
  /** For a histogram: the number of values, and the number at or below each bound. */
  readonly count?: number;
  readonly atMost?: readonly number[];
}

/** The measurements of one instrument. */
export interface MetricFamily {
  /** The name of the instrument. */
  readonly name: MetricName;
  /** One entry for each combination of labels. */
  readonly measured: readonly Measured[];
}
