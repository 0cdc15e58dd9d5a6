import type { Result, ResultAsync } from 'neverthrow';
import type { FunctionPolicy } from '../../functions/define-function.js';
import type { JobPolicy } from '../../jobs/admission/job-policy.js';
import type { Cipher } from '../../ports/cipher.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpDelivery } from '../../ports/http-delivery.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Mailer } from '../../ports/mailer.js';
import type { Observer } from '../../ports/observer.js';
import type { ReadView, Storage, StorageError } from '../../ports/storage.js';
import type { Tracer } from '../../ports/tracer.js';
import type { Transform } from '../../ports/transform.js';
import type { Settings } from '../../settings.js';
import type { Milliseconds } from '../../shared/duration.js';
import { messageOf } from '../../shared/values.js';
import type { EngineEmitter, EngineEvents } from '../events.js';
import type { KnownCluster } from '../records/scheduling/known-cluster.js';
import type { ParkedQueries } from '../waiting/parked-queries.js';
import type { PresentTimes } from '../waiting/present-times.js';
import type { AcceptedEventsFeed } from './accepted-events.js';
import type { LogFeed } from './log-feed.js';
import type { NodeSwitch } from './node-switch.js';
import type { EvaluationTraces } from './traces.js';

/**
 * The context of every operation. `Engine` extends it with start and stop; only `createEngine` creates one. Members marked
 * as internal are left out of the published types: they are process state shared by operations.
 */
export interface EngineContext {
  /** Holds all state of the engine. */
  readonly storage: Storage;
  /** The engine's clock, with the wall time of the store if the store has one. */
  readonly clock: Clock;
  /** New identifiers and random numbers. */
  readonly ids: Ids;
  /** Sends notifications and verification requests. */
  readonly delivery: HttpDelivery;
  /** Absent: e-mail destinations can be configured, and their deliveries fail with `mail_unavailable`. */
  readonly mailer: Mailer | undefined;
  /** Absent: messages are sent unchanged. */
  readonly transform: Transform | undefined;
  /** Absent: secrets are stored in the clear. */
  readonly cipher: Cipher | undefined;
  /** @internal Secrets of the host. */
  readonly secrets: readonly string[];
  /** Receives measurements. */
  readonly observer: Observer;
  /** If absent, no spans are created; a call's `traceparent` is still passed on. */
  readonly tracer: Tracer | undefined;
  /** @internal Spans of evaluations that have begun. */
  readonly traces: EvaluationTraces;
  /** The log of the host. Readers of the monitor get the same lines. */
  readonly logger: Logger;
  /** @internal The same log, for readers of the monitor. */
  readonly feed: LogFeed;
  /** The defaults with the overrides that the engine was made with. */
  readonly settings: Settings;
  /** The host's requirements on jobs: its functions, and the rules of its settings. */
  readonly policies: readonly JobPolicy[];
  /** Emits facts to listeners. */
  readonly events: EngineEmitter;
  /** @internal Reads that wait for a change. */
  readonly parked: ParkedQueries;
  /** @internal The agents of nodes that are connected to this engine. */
  readonly agents: NodeSwitch;
  /** @internal Nodes whose agents run in this process: alive without heartbeats. */
  readonly ownNodes: Set<string>;
  /** @internal The functions that runners in this process can run, by node. */
  readonly functions: Map<string, readonly string[]>;
  /** @internal What `createFunctions` over this engine can enqueue, by `definitionKey`. */
  readonly definitions: Map<string, DefinedFunction>;
  /** @internal Cached nodes and allocations. */
  readonly cluster: ClusterMemory;
  /** @internal Turns of the event loop for work in parts. */
  readonly turns: Turns;
  /** @internal Converts times of intervals to current wall time. */
  readonly presentTimes: PresentTimes;
  /** @internal Events accepted by this engine, for its delivery loop. */
  readonly accepted: AcceptedEventsFeed;
  /** @internal When this engine last failed to reach its store, by the monotonic clock: messages sent to this engine since then may have been missed. */
  readonly outages: { lastAt: Milliseconds };
  /**
   * @internal Identifies this engine in leases of delivery queues and in relayed commands; unique among the engines of a
   * store.
   */
  readonly owner: string;
}

/** A function of the host that this process can enqueue: it has the schema of its input. */
interface DefinedFunction {
  readonly policy: FunctionPolicy;
  /** As `Functions.enqueue`, of which `options` are the `EnqueueOptions`. Writes to the storage of `context`. */
  enqueue(
    context: EngineContext,
    input: unknown,
    options: object,
  ): Promise<{ readonly id: string; readonly isNew: boolean }>;
}

export const definitionKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** A background loop: runs until the signal aborts, then resolves. It must tolerate a kill between any two steps. */
export interface BackgroundLoop {
  /** The name of the loop in logs and in `loop.failed`. */
  readonly name: string;
  /** Runs the loop. An exception is logged, and the loop is restarted after a second. */
  run(context: EngineContext, signal: AbortSignal): Promise<void>;
}

/** Emits a fact. An exception of a listener is logged and has no other effect. */
export function emit<K extends keyof EngineEvents>(
  context: EngineContext,
  name: K,
  ...fact: Parameters<EngineEvents[K]>
): void {
  context.feed.trace(fact[0], name);
  try {
    context.events.emit(name, ...fact);
  } catch (error) {
    context.logger.error({ event: name, error: messageOf(error) }, 'An event listener threw');
  }
}

/** The engine's cache of the cluster, kept between decisions. */
export class ClusterMemory {
  #known: KnownCluster | undefined;
  #reading: Promise<Result<undefined, StorageError>> | undefined;

  /** Undefined until it was read for the first time. */
  get known(): KnownCluster | undefined {
    return this.#known;
  }

  /** Reads it, or its changes. Concurrent callers share one reading. */
  learn(read: () => Promise<Result<undefined, StorageError>>): Promise<Result<undefined, StorageError>> {
    this.#reading ??= read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Stores a cluster of a committed state, unless a newer one is cached. */
  remember(known: KnownCluster): void {
    const before = this.#known;
    const isOlder =
      before !== undefined &&
      (known.allocationsIndex < before.allocationsIndex || known.nodesIndex < before.nodesIndex);
    if (!isOlder) this.#known = known;
  }
}

/**
 * Turns of the event loop for background work in parts. Each round of the loop grants one turn, in the order of
 * requests, so that several works never block one round together.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves at the caller's turn, which ends at its next `await` of anything else. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#give);
    });
  }

  /** An immediate that is set during a round runs in the next one. */
  readonly #give = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#give);
  };
}

/** Reads one state of the store; fails as `read` does. */
export function readResult<T, E>(
  { storage }: EngineContext,
  read: (view: ReadView) => Result<T, E>,
): ResultAsync<T, E | StorageError> {
  return storage.read(read).andThen((result) => result);
}

/** The datacenter that this server reports for itself. */
export const datacenter = 'dc1';

/** Host and port by which others reach this server. */
export function ownAddress({ settings }: EngineContext): string {
  const { publicOrigin } = settings.notifications;
  return URL.canParse(publicOrigin) ? new URL(publicOrigin).host : 'localhost';
}

/** The default node: the one whose agent is connected here, if there is exactly one. */
export function onlyNode({ agents }: Pick<EngineContext, 'agents'>): string | undefined {
  const [only, ...others] = agents.nodeIds();
  return others.length === 0 ? only : undefined;
}
