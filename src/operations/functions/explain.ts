import { Admission, LiveCounts, Pauses } from '../../functions/admission.js';
import type { FunctionPolicy } from '../../functions/define-function.js';
import { hasEnded, pauses, queueName, readyKey, runId, runs, type StoredRun, steps } from '../../functions/run.js';
import type { Clock } from '../../ports/clock.js';
import type { ReadView } from '../../ports/storage.js';
import { storedRates } from '../../queue/limits.js';
import { processes, type QueueProcess } from '../../queue/process.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { WaitReason } from './functions-api.js';

interface Explanation {
  readonly reason: WaitReason;
  readonly message: string;
}

/** A process that is there and has a free slot takes a run that is due within this time. */
const takenWithin = 5 * second;
/** The most runs before a run that are counted. */
const mostCounted = 1000;

const time = (at: Instant): string => new Date(at).toISOString();

/** What a run waits for. The limits are those of the code of this process. */
export function explainRun(
  view: ReadView,
  run: StoredRun,
  policy: FunctionPolicy | undefined,
  clock: Clock,
): Explanation {
  if (hasEnded(run))
    return {
      reason: 'held',
      message: `it has ended (${run.state}) at ${time(run.endedAt ?? 0)} and waits for nothing`,
    };
  if (run.state === 'running') {
    const since = time(run.startedAt ?? run.dueAt);
    const message = `it is under way in process ${run.holder ?? ''} since ${since}, attempt ${run.attempt}`;
    return { reason: 'held', message };
  }
  if (run.state === 'scheduled' && run.dueAt > clock.now()) {
    const { error } = run;
    const why = error === undefined ? '' : `: attempt ${run.attempt} failed (${error.name}: ${error.message})`;
    return { reason: 'scheduled', message: `it is due at ${time(run.dueAt)}${why}` };
  }
  if (run.state !== 'queued' && run.state !== 'scheduled')
    return { reason: 'child', message: `it waits for ${calledBy(view, run).join(', ') || 'a run that it has called'}` };
  return new Waiting(view, run, policy, clock).explain();
}

/** The runs that a run has called and that have not ended. */
function calledBy(view: ReadView, { number }: StoredRun): readonly string[] {
  const called = view.list(steps, { prefix: [number] }).flatMap(({ record }) => record.called ?? []);
  return called.filter(({ outcome }) => outcome === undefined).map(runId);
}

/** A run that is due. */
class Waiting {
  readonly #view: ReadView;
  readonly #run: StoredRun;
  readonly #policy: FunctionPolicy | undefined;
  readonly #clock: Clock;
  readonly #processes: readonly QueueProcess[];

  constructor(view: ReadView, run: StoredRun, policy: FunctionPolicy | undefined, clock: Clock) {
    this.#view = view;
    this.#run = run;
    this.#policy = policy;
    this.#clock = clock;
    this.#processes = view.list(processes, { prefix: [queueName] }).map(({ record }) => record);
  }

  explain(): Explanation {
    return this.#pause() ?? this.#version() ?? this.#block() ?? this.#silence() ?? this.#behind();
  }

  #pause(): Explanation | undefined {
    const paused = new Pauses(this.#view.list(pauses).map(({ record }) => record));
    const name = this.#run.function;
    if (paused.has(name)) return { reason: 'paused', message: `${name} is paused` };
    const key = paused.keyOf(this.#run);
    return key === undefined ? undefined : { reason: 'paused', message: `the key '${key}' of ${name} is paused` };
  }

  /** The processes that run the function, in whatever version. */
  get #having(): readonly QueueProcess[] {
    return this.#processes.filter(({ versions }) => versions?.[this.#run.function] !== undefined);
  }

  get #able(): readonly QueueProcess[] {
    return this.#having.filter(({ versions }) => (versions?.[this.#run.function] ?? 0) >= this.#run.version);
  }

  #version(): Explanation | undefined {
    return this.#having.length > 0 && this.#able.length === 0 ? this.#needsVersion(this.#having) : undefined;
  }

  #needsVersion(having: readonly QueueProcess[]): Explanation {
    const { function: name, version } = this.#run;
    const versions = [...new Set(having.map(({ versions }) => versions?.[name]))].join(', ');
    const message = `it needs version ${version} of ${name} or a later one, and the processes run version ${versions}`;
    return { reason: 'version', message };
  }

  /** A limit or rate, counted as a process would that takes the run now. */
  #block(): Explanation | undefined {
    if (this.#policy === undefined) return undefined;
    const living = new Set(this.#processes.filter((each) => this.#isAlive(each)).map(({ id }) => id));
    const live = this.#view.list(runs, { index: 'live' }).map(({ record }) => record);
    const admission = new Admission(
      new LiveCounts(
        live.filter(({ holder }) => holder !== null && living.has(holder)),
        (name) => (name === this.#run.function ? this.#policy : undefined),
      ),
      (key) => this.#view.get(storedRates, [key])?.record,
      this.#clock.now(),
    );
    const block = admission.blockOf(this.#policy, this.#run);
    if (block === undefined) return undefined;
    const { reason, name } = block;
    if (reason === 'rate') return { reason, message: `the rate is used up until ${time(block.until)} (${name})` };
    return { reason, message: `the limit of ${block.limit} at once is reached (${name})` };
  }

  /** A process with a free slot would have taken it, and one without has runs under way and therefore a lease. */
  #silence(): Explanation | undefined {
    const { function: name, dueAt, enqueuedAt } = this.#run;
    const having = this.#having;
    const able = this.#able;
    if (able.length === 0) return { reason: 'no_process', message: `no process runs ${name}` };
    const isRecent = this.#clock.now() - Math.max(dueAt, enqueuedAt) < takenWithin;
    if (isRecent || able.some((each) => this.#isAlive(each))) return undefined;
    if (able.length < having.length) return this.#needsVersion(having.filter((each) => !able.includes(each)));
    const last = time(Math.max(...able.map(({ until }) => until)));
    return { reason: 'no_process', message: `the processes that ran ${name} have given no sign of life since ${last}` };
  }

  #isAlive({ timeline, leaseUntil, until }: QueueProcess): boolean {
    return timeline === this.#clock.timeline ? leaseUntil > this.#clock.monotonic() : until > this.#clock.now();
  }

  #behind(): Explanation {
    const { function: name, limits = [], interruptions, after } = this.#run;
    if (after !== undefined)
      return { reason: 'behind', message: `it waits for the end of ${name}/${after}, the launch before` };
    if (interruptions > 0) return this.#alone();
    const [key = ''] = limits;
    const within = { index: 'ready', prefix: [name, key], to: readyKey(this.#run), limit: mostCounted };
    const before = this.#view.list(runs, within).length;
    const count = before < mostCounted ? String(before) : `${mostCounted} or more`;
    const first =
      before === 0
        ? 'it is next: it begins when a process has a free slot'
        : `${count} ${before === 1 ? 'run' : 'runs'} of ${name}${key === '' ? '' : ` with its key`} ${before === 1 ? 'comes' : 'come'} first`;
    const unknown =
      this.#policy === undefined ? '; its limits are not known here, where its definition is missing' : '';
    return { reason: 'behind', message: first + unknown };
  }

  #alone(): Explanation {
    const isUnderWay = this.#view.list(runs, { index: 'live' }).some(({ record }) => record.interruptions > 0);
    const why = 'a process ended while it ran, so it runs alone';
    const message = `${why}: ${isUnderWay ? 'another such run is under way' : 'it begins when a process has a free slot'}`;
    return { reason: 'behind', message };
  }
}
