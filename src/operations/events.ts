/**
 * Facts, emitted after their write has committed. Nothing in the engine depends on a listener; the error of a
 * listener is logged and has no other effect.
 */
export interface EngineEvents {
  /** A job has a new version, by a registration, a revert or a scaling. `index` is the one of the write. */
  'job.registered': (fact: { namespace: string; jobId: string; version: number; index: number }) => void;
  /** A job was stopped; `purged` when it was removed as well. */
  'job.stopped': (fact: { namespace: string; jobId: string; purged: boolean; index: number }) => void;
  /** A parameterized job has a new instance, `jobId`. */
  'job.dispatched': (fact: { namespace: string; parentId: string; jobId: string; index: number }) => void;
  /** A periodic job was launched, by the clock or by request. */
  'job.launched': (fact: { namespace: string; parentId: string; jobId: string; index: number }) => void;
  /** The status of a job changed: `pending`, `running` or `dead`. */
  'job.status': (fact: { namespace: string; jobId: string; status: string; index: number }) => void;
  /** The scheduler has processed an evaluation; `status` is the result. */
  'evaluation.finished': (fact: { namespace: string; evaluationId: string; jobId: string; status: string }) => void;
  /** An agent reported a change of an allocation. */
  'allocation.changed': (fact: {
    namespace: string;
    allocationId: string;
    jobId: string;
    clientStatus: string;
  }) => void;
  /** The status of a deployment changed. */
  'deployment.status': (fact: { namespace: string; deploymentId: string; jobId: string; status: string }) => void;
  /** The status, eligibility, drain or metadata of a node changed. A removed node has the status `purged`. */
  'node.changed': (fact: { nodeId: string; status: string }) => void;
  /** An event was accepted. There is one delivery for each configuration that it notifies. */
  'notification.event': (fact: {
    eventId: string;
    workspaceId: string;
    trigger: string;
    deliveryIds: readonly string[];
  }) => void;
  /** A delivery attempt ended. `attempt` counts from 1; `errorClass` is null for `delivered`. */
  'notification.attempt': (fact: {
    deliveryId: string;
    configurationId: string;
    attempt: number;
    outcome: 'delivered' | 'retrying' | 'dead';
    errorClass: string | null;
  }) => void;
  /** A destination began to fail or works again, or its circuit breaker opened or closed. */
  'notification.destination': (fact: {
    configurationId: string;
    workspaceId: string;
    change: 'failing' | 'recovered' | 'breaker_opened' | 'breaker_closed';
  }) => void;
  /** A delivery ended. */
  'notification.delivery': (fact: {
    deliveryId: string;
    configurationId: string;
    workspaceId: string;
    outcome: 'delivered' | 'partly_delivered' | 'dead' | 'cancelled';
    /** Why it failed. */
    reason: string | null;
  }) => void;
  /** A configuration was changed by a caller, or with `auto_disabled` by the engine. */
  'notification.configuration': (fact: {
    configurationId: string;
    workspaceId: string;
    change: 'created' | 'updated' | 'deleted' | 'verified' | 'auto_disabled' | 'paused' | 'resumed';
  }) => void;
  /** A run that reports to a workspace has ended. The run of a service ends when it is up, and ends once more if it fails later. */
  'run.ended': (fact: {
    namespace: string;
    jobId: string;
    runId: string;
    workspaceId: string;
    status: string;
    createdAt: number;
    endedAt: number;
    /** The trace that it belongs to. */
    traceparent: string | null;
  }) => void;
  /** A run of a function was enqueued, by a call or by its schedule. `dueAt`: milliseconds since 1970. */
  'function.enqueued': (fact: { function: string; runId: string; dueAt: number }) => void;
  /** An attempt begins, in this process. `attempt` counts from 1; `waited`: milliseconds since it was due. */
  'function.started': (fact: { function: string; runId: string; attempt: number; waited: number }) => void;
  /** A run of a function has ended. `took`: milliseconds of the last attempt, null when there was none; `error`: the name of its error. */
  'function.ended': (fact: {
    function: string;
    runId: string;
    outcome: 'succeeded' | 'failed' | 'cancelled' | 'timed_out';
    attempt: number;
    took: number | null;
    error: string | null;
  }) => void;
  /**
   * A due run of a function has not been started for ten minutes, or a launch has not been made: once until that is over. `runId` is
   * null when there is no run; `since`: milliseconds since 1970.
   */
  'function.late': (fact: { function: string; runId: string | null; since: number; reason: string }) => void;
  /**
   * The event loop of this process was blocked for more than five seconds while this run was under way. It is one of `candidates` runs
   * that may have done it.
   */
  'function.blocked': (fact: { function: string; runId: string; seconds: number; candidates: number }) => void;
  /** A background loop threw an error; it is restarted after a second. */
  'loop.failed': (fact: { loop: string; message: string }) => void;
}

/** Subscriptions to the facts of an engine: `engine.events.on('job.status', listener)`. */
export interface EngineEmitter {
  /** Calls the listener at every event of this name, after earlier listeners. */
  on<K extends keyof EngineEvents>(name: K, listener: EngineEvents[K]): this;
  /** Calls the listener at the next event of this name only. */
  once<K extends keyof EngineEvents>(name: K, listener: EngineEvents[K]): this;
  /** Removes a listener, or all of an event. */
  off<K extends keyof EngineEvents>(name: K, listener?: EngineEvents[K]): this;
  /** Calls the listeners of an event in order; false if there are none. */
  emit<K extends keyof EngineEvents>(name: K, ...fact: Parameters<EngineEvents[K]>): boolean;
  /** The number of listeners of an event. */
  listenerCount(name: keyof EngineEvents): number;
}

interface Registration {
  readonly listener: (...fact: readonly never[]) => void;
  readonly isOnce: boolean;
}

export function createEmitter(): EngineEmitter {
  // Lists are immutable: a listener that adds or removes others does not affect the current event.
  const registrations = new Map<keyof EngineEvents, readonly Registration[]>();
  const of = (name: keyof EngineEvents): readonly Registration[] => registrations.get(name) ?? [];
  const add = (name: keyof EngineEvents, registration: Registration): EngineEmitter => {
    registrations.set(name, [...of(name), registration]);
    return emitter;
  };
  const emitter: EngineEmitter = {
    on: (name, listener) => add(name, { listener, isOnce: false }),
    once: (name, listener) => add(name, { listener, isOnce: true }),
    off: (name, listener) => {
      registrations.set(name, listener === undefined ? [] : of(name).filter((each) => each.listener !== listener));
      return emitter;
    },
    emit: (name, ...fact) => {
      const called = of(name);
      for (const registration of called) {
        if (registration.isOnce)
          registrations.set(
            name,
            of(name).filter((each) => each !== registration),
          );
        (registration.listener as (...fact: readonly unknown[]) => void)(...fact);
      }
      return called.length > 0;
    },
    listenerCount: (name) => of(name).length,
  };
  return emitter;
}
