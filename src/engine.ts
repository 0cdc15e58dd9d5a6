/// <reference lib="esnext.disposable" preserve="true" />

import type { ResultAsync } from 'neverthrow';
import { type Principal, principalFault } from './access/principal.js';
import { passwordsIn } from './agent/output/output-tail.js';
import type { CallInput } from './api/answers.js';
import type { ErrorTag } from './api/errors.js';
import { type Client, clientOver } from './client/client.js';
import { type Host, hostOf } from './host.js';
import { type JobPolicy, policyLevels } from './jobs/admission/job-policy.js';
import { boundCalls, type CallName, loadOperations, localTransport } from './local-transport.js';
import { functionLabels } from './metrics/instruments.js';
import { AcceptedEventsFeed } from './operations/context/accepted-events.js';
import {
  type BackgroundLoop,
  ClusterMemory,
  type EngineContext,
  emit,
  Turns,
} from './operations/context/engine-context.js';
import { LogFeed } from './operations/context/log-feed.js';
import { NodeSwitch } from './operations/context/node-switch.js';
import { SeriesObserver } from './operations/context/series.js';
import { clockOver } from './operations/context/store-clock.js';
import { EvaluationTraces } from './operations/context/traces.js';
import { createEmitter } from './operations/events.js';
import type { CallManner } from './operations/operation.js';
import { rightsIndex } from './operations/records/caller-standing.js';
import { ParkedQueries } from './operations/waiting/parked-queries.js';
import { PresentTimes } from './operations/waiting/present-times.js';
import { checkOptions, type OptionTable } from './options/check-options.js';
import { callable, clock, group, ids, listOf, logger, oneOf, optional, port, text } from './options/option-kinds.js';
import type { Cipher } from './ports/cipher.js';
import type { Clock } from './ports/clock.js';
import type { HttpDelivery } from './ports/http-delivery.js';
import type { Ids } from './ports/ids.js';
import type { Logger } from './ports/logger.js';
import type { Mailer } from './ports/mailer.js';
import type { Observer } from './ports/observer.js';
import type { Storage } from './ports/storage.js';
import type { Tracer } from './ports/tracer.js';
import type { Transform } from './ports/transform.js';
import { type PolicyRule, policyOfRule } from './queries/policy-rule.js';
import { type Settings, type SettingsOverrides, settingsFrom } from './settings.js';
import { second, timerOf } from './shared/duration.js';
import { messageOf } from './shared/values.js';
import { watchedTables } from './tables.js';
import type { EngineTransaction, TransactionOutcome } from './transaction.js';

/** The engine's connections to its host. The host owns them: the engine never closes a port. */
export interface EnginePorts {
  /** Holds all state of the engine. Several engines, in one process or in several, may share a store. */
  readonly storage: Storage;
  /**
   * The engine's clock; for tests, use `manualClock` of `signalbox/testing`. Over a store that several hosts share, wall time is that of
   * the store instead, unless the clock is one that tests move.
   */
  readonly clock: Clock;
  /** New identifiers and random numbers. */
  readonly ids: Ids;
  /** Sends notifications and verification requests, and decides which addresses may be reached. */
  readonly delivery: HttpDelivery;
  /** Needed for e-mail destinations. */
  readonly mailer?: Mailer;
  /** Encrypts tokens and destination URLs at rest. */
  readonly cipher?: Cipher;
  /** Secrets of the host, such as keys, passwords and URLs with passwords: alerts do not quote them when a task prints one. */
  readonly secrets?: readonly string[];
  /** Changes the bodies of HTTP messages before they are signed. */
  readonly transform?: Transform;
  /** Requirements on jobs beyond the rules of the interface; checked together with those of `settings.jobs.policies`. */
  readonly policies?: readonly JobPolicy[];
  /** Receives measurements; they are dropped when absent. */
  readonly observer?: Observer;
  /** Receives spans of requests, launches, evaluations, runs and delivery attempts. */
  readonly tracer?: Tracer;
  /** Receives log entries for operators; they are dropped when absent. */
  readonly logger?: Logger;
}

const policy = group<JobPolicy>({ name: text, level: oneOf(...policyLevels), refuse: callable });

const portTable: OptionTable<EnginePorts> = {
  storage: port('a storage, such as memoryStorage()', 'read', 'write', 'waitForChange', 'close'),
  clock,
  ids,
  delivery: port('a delivery, such as undiciDelivery()', 'send', 'check', 'close'),
  mailer: optional(port('a mailer, such as smtpMailer(…)', 'send', 'close')),
  cipher: optional(port('a cipher, such as aesCipher(…)', 'seal', 'open')),
  secrets: optional(listOf(text)),
  transform: optional(callable),
  policies: optional(listOf(policy)),
  observer: optional(port('an observer, such as prometheusObserver()', 'count', 'record', 'gauge')),
  tracer: optional(port('a tracer, such as openTelemetryTracer(…)', 'begin')),
  logger: optional(logger),
};

/** Options of stopping an engine. */
export interface StopOptions {
  /** Milliseconds for the loops to finish their current work; default: 10 seconds. */
  readonly deadline?: number;
}

/** The scheduler and notifications of one process, created by `createEngine`. */
export interface Engine extends EngineContext {
  /** Starts the background loops; idempotent. Operations work without the loops, but nothing is scheduled or delivered. */
  start(): void;
  /**
   * Stops the background loops and answers all waiting readers. Returns false if the deadline passes first; the next engine
   * on the store then resumes the unfinished work.
   */
  stop(options?: StopOptions): Promise<boolean>;
  /** A client with the rights of a principal: the same methods as those of `connect` over HTTP. Throws a TypeError for anything but a principal. */
  as(principal: Principal): Client;
  /** What only the host may do. */
  readonly host: Host;
  /**
   * Commits several operations together or not at all, with rows of the host's own tables. The function makes its calls synchronously, without
   * `await`, and returns their promises: one, a list, or an object of them. The values of these are the result, in the same form.
   *
   * ```ts
   * const { run } = await engine.transaction((tx) => {
   *   tx.alongside((sql) => sql.run('INSERT INTO orders (id) VALUES (?)', order.id));
   *   return {
   *     run: functions.in(tx).enqueue(fulfil, { order: order.id }),
   *     event: tx.as(principal).notifications.send('ws-shop', { trigger: 'order.paid', data: { order: order.id } }),
   *   };
   * });
   * ```
   *
   * The operations are carried out in the order of their calls, each on what the ones before have changed, then the statements of
   * `alongside`. Promises resolve and nothing begins before the commit is durable. When one of them is refused, nothing is stored, and the
   * transaction rejects with its error: a `SignalboxError` for a call of the interface, a `FunctionsError`, or the own exception of
   * `alongside`, such as a violated constraint. The promises of the others reject with a `NotCommittedError`.
   */
  transaction<const T>(work: (transaction: EngineTransaction) => T): Promise<TransactionOutcome<T>>;
  /** Performs a call by its name, for adapters to other protocols. */
  perform(
    call: CallName,
    caller: Principal,
    input: CallInput,
    manner: CallManner,
  ): ResultAsync<unknown, { readonly type: ErrorTag }>;
  /** Calls `stop()` at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * An engine over the given ports. One process may have several, over one store or several: there is no global state,
 * and no signal handler is installed. The first one begins to load the operations and loops; calls wait for them. Throws a
 * TypeError for missing, unknown or mistyped ports and settings, and for a policy rule with an invalid expression.
 */
export function createEngine(ports: EnginePorts, overrides: SettingsOverrides = {}): Engine {
  checkOptions('createEngine', ports, portTable);
  const clock = clockOver(ports.clock, ports.storage);
  const context = contextOf({ ...ports, clock }, settingsFrom(overrides));
  // What needs the operations reports a failure.
  const loading = loadOperations().catch(() => undefined);
  ports.clock.hold?.(loading);
  let running: { readonly controller: AbortController; readonly done: Promise<unknown> } | undefined;

  const stop = async (options: StopOptions = {}): Promise<boolean> => {
    const stopping = running;
    running = undefined;
    context.parked.release();
    if (stopping === undefined) return true;
    stopping.controller.abort();
    return finishesWithin(stopping.done, options.deadline ?? 10 * second);
  };

  observeFacts(context);
  if (ports.tracer !== undefined) traceFacts(context, ports.tracer);

  return {
    ...context,
    start() {
      if (running !== undefined) return;
      const controller = new AbortController();
      running = { controller, done: keepRunning(context, allLoops, controller.signal) };
    },
    stop,
    as: (principal) => clientOf(context, principal),
    host: hostOf(context),
    transaction: async (work) => (await loadOperations()).transact(context, work, localTransport),
    perform: boundCalls(context),
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** The context shared by an engine's operations and loops. */
function contextOf(ports: EnginePorts, settings: Settings): EngineContext {
  const series = new SeriesObserver(ports.observer ?? silentObserver, () => ports.clock.now());
  const feed = new LogFeed(ports.logger ?? silentLogger, ports.clock);
  return {
    storage: ports.storage,
    clock: ports.clock,
    ids: ports.ids,
    delivery: ports.delivery,
    mailer: ports.mailer,
    cipher: ports.cipher,
    secrets: (ports.secrets ?? []).flatMap((secret) => [secret, ...passwordsIn(secret)]),
    transform: ports.transform,
    observer: series,
    series,
    tracer: ports.tracer,
    traces: new EvaluationTraces(),
    logger: feed,
    feed,
    settings,
    policies: [
      ...(ports.policies ?? []).map((policy) => logged(policy, feed)),
      ...settings.jobs.policies.map(policyFrom),
    ],
    events: createEmitter(),
    parked: new ParkedQueries(ports.storage, ports.clock, watchedTables, rightsIndex),
    agents: new NodeSwitch(),
    ownNodes: new Set(),
    functions: new Map(),
    definitions: new Map(),
    accepted: new AcceptedEventsFeed(),
    cluster: new ClusterMemory(),
    turns: new Turns(),
    presentTimes: new PresentTimes(),
    outages: { lastAt: Number.NEGATIVE_INFINITY },
    owner: ports.ids.next('lease_owner'),
  };
}

function clientOf(context: EngineContext, principal: Principal): Client {
  const fault = principalFault(principal);
  if (fault !== undefined) throw new TypeError(`engine.as: ${fault}`);
  return clientOver(localTransport(context, principal));
}

/** Loads the loops and keeps each of them running. */
const allLoops: BackgroundLoop = {
  name: 'engine',
  run: async (context, signal) => {
    const { loops } = await loadOperations();
    await Promise.all(loops.map((loop) => keepRunning(context, loop, signal)));
  },
};

/** Logs the error of a loop and restarts it after a pause: one bad row must not end the service. */
async function keepRunning(context: EngineContext, loop: BackgroundLoop, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await loop.run(context, signal);
    } catch (error) {
      const message = messageOf(error);
      context.logger.error({ loop: loop.name, error: message }, 'A background loop failed; restarting it');
      emit(context, 'loop.failed', { loop: loop.name, message });
      await context.clock.sleep(second, signal);
    }
  }
}

/** Uses the host's timers, not the engine's clock: a stop must end even if virtual time stands still. */
async function finishesWithin(done: Promise<unknown>, deadline: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timerOf(deadline));
  });
  const finished = await Promise.race([done.then(() => true), late]);
  clearTimeout(timer);
  return finished;
}

const nothing = (): void => undefined;
const silentObserver: Observer = { count: nothing, record: nothing, gauge: nothing };
const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function policyFrom(rule: PolicyRule): JobPolicy {
  return policyOfRule(rule).match(
    (policy) => policy,
    ({ name, fault }) => {
      throw new TypeError(`jobs.policies: invalid expression in the rule ${name}: ${fault.message}`);
    },
  );
}

/** Logs what a host policy throws, because callers must not see details of the host. */
function logged(policy: JobPolicy, logger: Logger): JobPolicy {
  return {
    ...policy,
    refuse: (question) => {
      try {
        return policy.refuse(question);
      } catch (thrown) {
        logger.error({ policy: policy.name, error: messageOf(thrown) }, 'A job policy threw an exception');
        throw thrown;
      }
    },
  };
}

/** Counts the facts that the engine emits, also before it is started and after it was stopped, because calls emit facts, too. */
function observeFacts({ events, observer }: Pick<EngineContext, 'events' | 'observer'>): void {
  const start = (reason: string) => (): void => observer.count('signalbox.job.starts', 1, { reason });
  events.on('job.registered', start('registered'));
  events.on('job.dispatched', start('dispatched'));
  events.on('job.launched', start('launched'));
  events.on('evaluation.finished', ({ status }) => observer.count('signalbox.evaluations', 1, { status }));
  events.on('allocation.changed', ({ clientStatus }) => {
    observer.count('signalbox.allocations', 1, { client_status: clientStatus });
  });
  events.on('deployment.status', ({ status }) => observer.count('signalbox.deployments', 1, { status }));
  events.on('notification.event', () => observer.count('signalbox.notification.events', 1, {}));
  events.on('notification.delivery', ({ outcome }) => {
    observer.count('signalbox.notification.deliveries', 1, { outcome });
  });
  const label = functionLabels();
  events.on('function.ended', ({ function: name, outcome }) => {
    observer.count('signalbox.function.runs', 1, { function: label(name), outcome });
  });
  events.on('function.started', ({ function: name, waited }) => {
    observer.record('signalbox.function.attempt.lag', waited / 1000, { function: label(name) });
  });
  events.on('loop.failed', ({ loop }) => observer.count('signalbox.loop.failures', 1, { loop }));
}

/** Makes spans from the facts that the engine emits: evaluations and runs, whose beginning and end are in different writes. */
function traceFacts(
  { events, traces, clock }: Pick<EngineContext, 'events' | 'traces' | 'clock'>,
  tracer: Tracer,
): void {
  events.on('evaluation.finished', ({ namespace, evaluationId, jobId, status }) => {
    const cause = traces.take(evaluationId);
    if (cause === undefined) return;
    const attributes = {
      'signalbox.namespace': namespace,
      'signalbox.job': jobId,
      'signalbox.evaluation': evaluationId,
    };
    const span = tracer.begin({
      name: 'evaluation',
      kind: 'internal',
      parent: cause.traceparent,
      at: cause.at,
      attributes,
    });
    span.end({ at: clock.now(), attributes: { 'signalbox.status': status }, ...failedAs(status, 'failed') });
  });
  events.on('run.ended', ({ namespace, jobId, runId, workspaceId, status, createdAt, endedAt, traceparent }) => {
    const attributes = {
      'signalbox.namespace': namespace,
      'signalbox.job': jobId,
      'signalbox.run': runId,
      'signalbox.workspace': workspaceId,
    };
    const parent = traceparent ?? undefined;
    const span = tracer.begin({ name: 'run', kind: 'internal', parent, at: createdAt, attributes });
    span.end({ at: endedAt, attributes: { 'signalbox.status': status }, ...failedAs(status, 'errored') });
  });
}

function failedAs(status: string, failure: string): { readonly failure?: string } {
  return status === failure ? { failure: status } : {};
}
