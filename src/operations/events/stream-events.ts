import { errAsync, type ResultAsync } from 'neverthrow';
import { allows, allowsArea, everyNamespace, type PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { sessions } from '../../access/tokens.js';
import type { ClusterEvent, EventBatch, Notice } from '../../events/changes.js';
import { type NoticeBatch, noticeBatches } from '../../events/event-records.js';
import { type InvalidTopic, isSubscribed, type Subscription, subscriptionFrom } from '../../events/subscription.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import type { CallManner } from '../operation.js';
import { eventOfNotice, keptFrom } from '../reactions/notices.js';
import { standingOf } from '../records/caller-standing.js';
import { untilFirst } from '../waiting/until-change.js';

export interface StreamEventsInput {
  /** Topics with keys, as `Job:web`; everything when absent or empty. */
  readonly topics?: readonly string[];
  /** The first index of the stream; the oldest kept one when 0 or absent, the newest when it is in the future. */
  readonly index?: number;
  /** `default` when absent; `*` for all namespaces that the caller may read. */
  readonly namespace?: string;
}

/** Events of one transaction, or the notice that events before `Index` may be missing because they are no longer kept. */
export type StreamedEvents =
  | EventBatch
  | { readonly Index: number; readonly Events: readonly never[]; readonly Missed: true };

/** The longest silence before a heartbeat, in milliseconds. */
const heartbeat = 30 * second;

/** Batches read at once. A slow reader holds no more than these in memory. */
const readAtOnce = 64;

/**
 * The changes of the cluster, each with its transaction; `undefined` is a heartbeat, at once and every half minute. A reader
 * that reconnects with the index after the last one that it received misses nothing that is still kept
 * (`settings.events.kept`); otherwise it gets `Missed`. Ends when the signal aborts, the store closes, or the caller's token is
 * removed, expires or changes its rights: no later events are sent.
 */
export function streamEvents(
  context: EngineContext,
  caller: Principal,
  input: StreamEventsInput & Pick<CallManner, 'signal'>,
): ResultAsync<AsyncIterable<StreamedEvents | undefined>, PermissionDenied | InvalidTopic | StorageError> {
  const subscription = subscriptionFrom(input.topics ?? []);
  if (subscription.isErr()) return errAsync(subscription.error);
  const { namespace = 'default', index = 0, signal } = input;
  if (!maySubscribe(caller, subscription.value, namespace)) return errAsync({ type: 'permission_denied' });
  const wants = wantsOf(caller, subscription.value, namespace);
  return context.storage
    .read((view) => Math.min(Math.max(index, 0), view.tableIndex(noticeBatches)))
    .map((from) => {
      const stands = standingOf(context, caller);
      return batchesFrom(context, { from, tellsGaps: index > 0, wants, stands }, signal);
    });
}

/** Topics of objects in namespaces. Nodes are a separate area; all other topics, and `*`, require management rights. */
const OF_JOBS: ReadonlySet<string> = new Set(['Job', 'Evaluation', 'Allocation', 'Deployment', 'Service']);

function maySubscribe(caller: Principal, subscription: Subscription, namespace: string): boolean {
  const mayRead = (topic: string): boolean =>
    OF_JOBS.has(topic)
      ? allows(caller, namespace, ['read-job'])
      : caller.management || (topic === 'Node' && allowsArea(caller, 'node', 'read'));
  return [...subscription.keys()].every(mayRead);
}

function wantsOf(caller: Principal, subscription: Subscription, namespace: string): (notice: Notice) => boolean {
  const sees = ({ Namespace }: Notice): boolean => {
    if (Namespace === '') return true;
    if (namespace !== everyNamespace) return Namespace === namespace;
    return caller.management || allows(caller, Namespace, ['read-job']);
  };
  return (notice) => isSubscribed(subscription, notice) && sees(notice);
}

interface Reading {
  readonly batches: readonly EventBatch[];
  /** Index of the oldest transaction whose events are all kept. */
  readonly keptFrom: number;
  readonly latest: number;
  /** Whether the caller still has the rights that the stream began with. */
  readonly stands: boolean;
}

interface EventsAsked {
  /** The first index to send. */
  readonly from: number;
  /** Whether the reader resumes, so that it must be notified of events that are no longer kept. */
  readonly tellsGaps: boolean;
  readonly wants: (notice: Notice) => boolean;
  readonly stands: (view: ReadView) => boolean;
}

async function* batchesFrom(
  context: EngineContext,
  { from, tellsGaps, ...asked }: EventsAsked,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvents | undefined> {
  let next = from;
  let mayTellGap = tellsGaps;
  yield undefined;
  while (!signal.aborted) {
    const reading = await readBatches(context, next, asked);
    if (reading.isErr() || !reading.value.stands) return;
    const { batches, keptFrom, latest } = reading.value;
    if (mayTellGap && next < keptFrom) yield { Index: keptFrom, Events: [], Missed: true };
    mayTellGap = true;
    for (const batch of batches) {
      next = batch.Index + 1;
      if (batch.Events.length > 0) yield batch;
    }
    if (batches.length > 0) continue;
    next = Math.max(next, latest + 1);
    if (!(await changed(context, next - 1, signal))) yield undefined;
  }
}

const sharedEvents = new WeakMap<EngineContext, SharedEvents>();

function eventsOf(context: EngineContext): SharedEvents {
  const known = sharedEvents.get(context);
  if (known !== undefined) return known;
  const made = new SharedEvents();
  sharedEvents.set(context, made);
  return made;
}

function readBatches(
  context: EngineContext,
  next: number,
  { wants, stands }: Pick<EventsAsked, 'wants' | 'stands'>,
): ResultAsync<Reading, StorageError> {
  const events = eventsOf(context);
  return context.storage.read((view) => {
    const newest = view.tableIndex(noticeBatches);
    const oldest = keptFrom(newest, context.settings.events.kept);
    return {
      latest: Math.max(newest, view.tableIndex(sessions)),
      stands: stands(view),
      keptFrom: oldest,
      // Older notices are removed later, but their records need not be kept any more.
      batches: view
        .list(noticeBatches, { from: [Math.max(next, oldest)], limit: readAtOnce })
        .map(({ record }) => events.batchFor(view, record, wants)),
    };
  });
}

/** Waits for the next events, or the end of a session, which is no event; false when there were none for half a minute. */
async function changed(context: EngineContext, after: number, signal: AbortSignal): Promise<boolean> {
  let isChanged = false;
  await untilFirst(signal, (either) => [
    context.storage.waitForChange([noticeBatches, sessions], after, either).then(() => {
      isChanged = !either.aborted;
    }),
    context.clock.sleep(heartbeat, either),
  ]);
  return isChanged;
}

/** The most transactions whose events are cached. Up-to-date readers share the same few. */
const keptBatches = 64;
/** A transaction with more events is not cached: its records would stay in memory. */
const mostEvents = 100;

/** The events of the newest transactions: each is created, and can be serialised, once for all streams. */
export class SharedEvents {
  /** By index of the transaction, oldest first; undefined for an event that no stream has read yet. */
  readonly #made = new Map<number, (ClusterEvent | undefined)[]>();

  /** The events of a transaction that a reader selects. */
  batchFor(view: ReadView, { Index, Notices }: NoticeBatch, wants: (notice: Notice) => boolean): EventBatch {
    const made = this.#madeOf(Index, Notices.length);
    const Events: ClusterEvent[] = [];
    for (const [at, notice] of Notices.entries()) {
      if (!wants(notice)) continue;
      const event = made?.[at] ?? eventOfNotice(view, notice, Index);
      if (event === undefined) continue;
      if (made !== undefined) made[at] = event;
      Events.push(event);
    }
    return { Index, Events };
  }

  #madeOf(index: number, count: number): (ClusterEvent | undefined)[] | undefined {
    if (count > mostEvents) return undefined;
    const known = this.#made.get(index);
    if (known !== undefined) return known;
    const made = Array.from<undefined>({ length: count });
    this.#made.set(index, made);
    const [oldest] = this.#made.keys();
    if (this.#made.size > keptBatches && oldest !== undefined) this.#made.delete(oldest);
    return made;
  }
}
