import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../access/principal.js';
import type { Cause } from '../events/changes.js';
import type { JobPolicy } from '../jobs/admission/job-policy.js';
import { cleanTraceparent } from '../metrics/traceparent.js';
import type { Delivery } from '../notifications/delivery/delivery.js';
import type { StoredEvent } from '../notifications/events/event.js';
import type { IdKind, Ids } from '../ports/ids.js';
import type { StorageError, WriteView, Written } from '../ports/storage.js';
import { type Evaluation, evaluations } from '../scheduler/evaluation.js';
import type { Steps } from '../scheduler/steps.js';
import type { Settings } from '../settings.js';
import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import type { Key, Table } from '../shared/table.js';
import { rehearsalOver, ViewOver } from '../storage/views.js';
import { type AcceptedWrite, OtherChanges } from './context/accepted-events.js';
import { type EngineContext, emit } from './context/engine-context.js';
import { type SteppedWork, steppedWork } from './context/steps-in-turns.js';
import { type Sightings, sightingsOf } from './context/store-clock.js';
import type { EngineEvents } from './events.js';
import { ChangeSet } from './reactions/index.js';
import { addDelivery } from './records/delivery-rows.js';
import { NotedView } from './waiting/parked-queries.js';
import type { Transaction } from './write-transaction.js';

/**
 * The only way to change state. Runs `work` in one serialisable transaction; an `err` from it, or an exception, changes
 * nothing. Resolves when the write is durable by the store's promise and its facts have been emitted.
 *
 * The store may run the work several times and commits one of the runs: the work is synchronous, depends on the transaction
 * only, and has no side effects outside of it. The order of an operation: read, decide by a pure
 * function, write, emit.
 *
 * ```ts
 * commit(context, caller, (tx) => {
 *   const job = tx.get(jobs, [namespace, jobId])?.record;
 *   if (job === undefined) return err(jobNotFound(namespace, jobId));
 *   return decideStop(job, input, tx.now).map((stopped) => {
 *     tx.put(jobs, stopped);
 *     tx.emit('job.stopped', { namespace, jobId, purged: false, index: tx.index });
 *     return { index: tx.index };
 *   });
 * });
 * ```
 */
export function commit<T, E>(
  context: EngineContext,
  caller: Principal,
  work: (tx: Transaction) => Result<T, E>,
): ResultAsync<Written<T>, E | StorageError> {
  return committed(context, caller, work, (written) => written);
}

/** A commit of which only the value of the work is needed. A `map` of its outcome would add 2.5 µs. */
export function commitValue<T, E>(
  context: EngineContext,
  caller: Principal,
  work: (tx: Transaction) => Result<T, E>,
): ResultAsync<T, E | StorageError> {
  return committed(context, caller, work, ({ value }) => value);
}

function committed<T, E, R>(
  context: EngineContext,
  caller: Principal,
  work: (tx: Transaction) => Result<T, E>,
  outcomeOf: (written: Written<T>) => R,
): ResultAsync<R, E | StorageError> {
  const generated = new GeneratedValues(context);
  let facts: readonly Fact[] = [];
  let accepted: AcceptedWrite | undefined;
  let traced: readonly TracedEvaluation[] = [];
  let noted: NotedView | undefined;
  const write = context.storage.write((base) => {
    noted = context.parked.isWatching ? new NotedView(base, (table) => context.parked.isWatched(table)) : undefined;
    const view = noted ?? base;
    accepted?.restart();
    const tx = new CommitTransaction(context, caller, view, generated.again());
    tx.accepting = () => {
      accepted ??= context.accepted.open();
      return accepted;
    };
    let isDone = false;
    try {
      const result = work(tx);
      isDone = result.isOk();
      if (isDone) {
        tx.follow();
        accepted?.ended(tx, tx.part(OtherChanges));
      }
      facts = tx.facts;
      traced = tx.traced;
      return result;
    } finally {
      if (!isDone) accepted?.restart();
    }
  });
  // One step for both outcomes: every operation waits for it.
  const settled = async (): Promise<Result<R, E | StorageError>> => {
    let written: Result<Written<T>, E | StorageError>;
    try {
      written = await write;
    } catch (thrown) {
      accepted?.failed(false);
      throw thrown;
    }
    if (written.isErr()) {
      const mayBeStored = isStoreFailure(written.error);
      accepted?.failed(mayBeStored);
      if (mayBeStored) context.outages.lastAt = context.clock.monotonic();
      return err(written.error);
    }
    if (written.value.changed && noted !== undefined)
      context.parked.written({ from: noted.from, to: written.value.index, changes: noted.changes });
    accepted?.settled();
    for (const note of traced) context.traces.remember(note.evaluationId, note);
    for (const { name, fact } of facts) emit(context, name, ...([fact] as FactOf<typeof name>));
    return ok(outcomeOf(written.value));
  };
  return new ResultAsync(settled());
}

type FactOf<K extends keyof EngineEvents> = Parameters<EngineEvents[K]>;

function isStoreFailure(error: unknown): boolean {
  return (error as Partial<StorageError> | null | undefined)?.type === 'storage_failed';
}

/**
 * Runs the work on a snapshot and discards its changes: the result is that of a commit now. Nothing is stored and no
 * facts are emitted. The transaction has the index that a write would get.
 */
export function rehearse<T, E>(
  context: EngineContext,
  caller: Principal,
  work: (tx: Transaction) => Result<T, E>,
): ResultAsync<T, E | StorageError> {
  const generated = new GeneratedValues(context);
  return context.storage
    .read((view) => {
      const rehearsal = rehearsalOver(() => view);
      try {
        return work(new CommitTransaction(context, caller, rehearsal, generated.again()));
      } finally {
        rehearsal.end();
      }
    })
    .andThen((result): Result<T, E> => (result.isOk() ? ok(result.value) : err(result.error)));
}

/**
 * A rehearsal in steps, for work too long for one turn of the event loop: each turn reads the then current store, under the
 * changes that the work has already made. The caller must check for changes in between.
 */
export function rehearseInSteps<T>(
  context: EngineContext,
  caller: Principal,
  work: (tx: Transaction) => Steps<T>,
): SteppedWork<T> {
  const generated = new GeneratedValues(context);
  return steppedWork(function* (current) {
    const rehearsal = rehearsalOver(current);
    try {
      return yield* work(new CommitTransaction(context, caller, rehearsal, generated.again()));
    } finally {
      rehearsal.end();
    }
  });
}

interface TracedEvaluation {
  readonly evaluationId: string;
  readonly traceparent: string;
  readonly at: Instant;
}

type Fact = {
  [K in keyof EngineEvents]: { readonly name: K; readonly fact: Parameters<EngineEvents[K]>[0] };
}[keyof EngineEvents];

class CommitTransaction extends ViewOver implements Transaction {
  readonly facts: Fact[] = [];
  readonly #changes = new ChangeSet();
  #isReacting = false;
  /** The part of the delivery loop in this write; none when it is rehearsed, or when there is no loop. */
  accepting: (() => AcceptedWrite | undefined) | undefined;
  readonly settings: Settings;
  readonly policies: readonly JobPolicy[];
  readonly sealing: Pick<EngineContext, 'cipher' | 'secrets'>;
  readonly stopwatch: () => number;
  /** Evaluations created within a trace. */
  readonly traced: TracedEvaluation[] = [];
  #trace: string | undefined;
  cause: Cause | undefined;
  unfinished = false;
  readonly #context: EngineContext;
  readonly #generated: GeneratedValues;
  /** Few; a list is the fastest. */
  #parts: object[] | undefined;

  constructor(
    context: EngineContext,
    readonly caller: Principal,
    view: WriteView,
    generated: GeneratedValues,
  ) {
    super(view);
    this.settings = context.settings;
    this.policies = context.policies;
    this.sealing = context;
    this.#context = context;
    this.#generated = generated;
    this.#trace = cleanTraceparent(caller.traceparent);
    this.stopwatch = () => context.clock.monotonic() * 1e6;
  }

  get trace(): string | undefined {
    return this.#trace;
  }

  /** What follows from earlier changes belongs to the trace that they were made in. */
  set trace(trace: string | undefined) {
    if (!this.#isReacting) this.#react();
    this.#trace = trace;
  }

  get now(): Instant {
    return this.#generated.time.now;
  }

  get monotonic(): Milliseconds {
    return this.#generated.time.monotonic;
  }

  get timeline(): string {
    return this.#context.clock.timeline;
  }

  get sightings(): Sightings | undefined {
    return sightingsOf(this.#context.clock);
  }

  get ids(): Ids {
    return this.#generated;
  }

  get actor(): string | undefined {
    return this.caller.name === '' ? undefined : this.caller.name;
  }

  override put<R>(table: Table<R>, record: R): void {
    if (this.trace !== undefined && table.name === evaluations.name) this.#noteEvaluation(record as Evaluation);
    this.#changes.note(this.view, { table, key: table.key(record) }, record);
    this.view.put(table, record);
  }

  override remove<R>(table: Table<R>, key: Key): boolean {
    this.#changes.note(this.view, { table, key }, undefined);
    return this.view.remove(table, key);
  }

  /** The changes of an index have their consequences with it. Those of reactions belong to the rest of the write. */
  override nextIndex(): number {
    if (!this.#isReacting) this.#react();
    return this.view.nextIndex();
  }

  /** Applies what follows from all changes, at the end of the work. */
  follow(): void {
    this.#react();
    this.#changes.notice(this);
  }

  #react(): void {
    this.#isReacting = true;
    this.#changes.react(this);
    this.#isReacting = false;
  }

  #noteEvaluation({ ID: evaluationId, CreateIndex }: Evaluation): void {
    const { trace: traceparent } = this;
    if (this.#context.tracer === undefined || traceparent === undefined || CreateIndex < this.view.index) return;
    this.traced.push({ evaluationId, traceparent, at: this.now });
  }

  deliver(delivery: Delivery, event: StoredEvent): void {
    const accepted = this.accepting?.();
    if (accepted === undefined) addDelivery(this, delivery);
    else accepted.add(this, delivery, event);
  }

  emit<K extends keyof EngineEvents>(name: K, fact: Parameters<EngineEvents[K]>[0]): void {
    this.facts.push({ name, fact } as Fact);
  }

  hears(name: keyof EngineEvents): boolean {
    const { events, feed } = this.#context;
    return feed.hasReaders || events.listenerCount(name) > 0;
  }

  part<T extends object>(kind: new (tx: Transaction) => T): T {
    this.#parts ??= [];
    for (const part of this.#parts) if (part instanceof kind) return part;
    const part = new kind(this);
    this.#parts.push(part);
    return part;
  }
}

/** The generated values of a commit, time and identifiers, in the order in which its work asks for them: every run gets the same ones. */
class GeneratedValues implements Ids {
  readonly #context: Pick<EngineContext, 'clock' | 'ids'>;
  readonly #generated = new Map<IdKind, string[]>();
  readonly #taken = new Map<IdKind, number>();
  readonly #fractions: number[] = [];
  #fractionsTaken = 0;
  #time: { readonly now: Instant; readonly monotonic: Milliseconds } | undefined;

  constructor(context: Pick<EngineContext, 'clock' | 'ids'>) {
    this.#context = context;
  }

  /** Begins another run. */
  again(): this {
    this.#taken.clear();
    this.#fractionsTaken = 0;
    return this;
  }

  get time(): { readonly now: Instant; readonly monotonic: Milliseconds } {
    const { clock } = this.#context;
    this.#time ??= { now: clock.now(), monotonic: clock.monotonic() };
    return this.#time;
  }

  next(kind: IdKind): string {
    const position = this.#taken.get(kind) ?? 0;
    this.#taken.set(kind, position + 1);
    let values = this.#generated.get(kind);
    if (values === undefined) {
      values = [];
      this.#generated.set(kind, values);
    }
    values[position] ??= this.#context.ids.next(kind);
    return values[position];
  }

  fraction(): number {
    const position = this.#fractionsTaken;
    this.#fractionsTaken += 1;
    this.#fractions[position] ??= this.#context.ids.fraction();
    return this.#fractions[position];
  }
}
