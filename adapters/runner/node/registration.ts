import { err, ok, type Result } from 'neverthrow';
import type { NodeDescription } from '../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError, AgentRefused, NodeTaken } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { Milliseconds } from '../../../src/shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../../src/shared/instant.js';

/**
 * The server's wall time: from its last answer, advanced by the monotonic clock. Ages of the server's records are
 * measured on it: the wall clock of this host may be wrong by days and may be set at any time.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** Wall time of the server minus monotonic time of this host, in milliseconds; undefined for servers that do not report their time. */
  #offset: Milliseconds | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes the server's time from an answer that has just arrived. */
  heard(now: Instant | undefined): void {
    this.#offset = Number.isFinite(now) ? Number(now) - this.#clock.monotonic() : undefined;
  }

  /** Converts the server's time of a record to this host's monotonic clock; never in the future. */
  moment(createTime: number): Milliseconds {
    const now = this.#clock.monotonic();
    const offset = this.#offset ?? this.#clock.now() - now;
    return Math.min(now, instantFromUnixNanos(createTime) - offset);
  }
}

/** The server refuses this agent for the node, or has another agent for it. */
export type NotTheAgent = AgentRefused | NodeTaken;

interface RegistrationOptions {
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly node: NodeDescription;
  /** Ends the heartbeats, and attempts to register again. */
  readonly signal: AbortSignal;
  /** The disconnect timeouts of allocations that have one. */
  readonly disconnectTimeouts: () => readonly Milliseconds[];
  /** Called when the server has answered a registration or a heartbeat. */
  readonly onHeard: () => void;
  /** Called when a heartbeat has failed. */
  readonly onFailure: (error: AgentLinkError) => Promise<void>;
}

const shortestPause = 500;
const longestPause = 10_000;

/** Keeps a node registered with its server: registers it, sends heartbeats, and registers it again when the server no longer knows it. */
export class Registration {
  readonly #options: RegistrationOptions;
  /** The heartbeat TTL from the server's last answer. */
  #heartbeatTtl: Milliseconds = 0;
  /** The pending new registration. */
  #renewal: Promise<Result<void, NotTheAgent>> | undefined;
  /** Aborted to reschedule the next heartbeat. */
  #nextBeat = new AbortController();

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** Repeats the registration until it succeeds, the signal aborts, or the server returns a final error. */
  async register(signal: AbortSignal, isFinal: (error: NotTheAgent) => boolean): Promise<Result<void, NotTheAgent>> {
    const { link, clock, logger, node } = this.#options;
    for (let pause = shortestPause; !signal.aborted; pause = Math.min(pause * 2, longestPause)) {
      const registered = await link.register(node);
      if (registered.isOk()) {
        this.#heard(registered.value.heartbeatTtl);
        break;
      }
      const { error } = registered;
      logger.error({ error: textOf(error) }, 'The node could not be registered with the server');
      if ((error.type === 'node_refused' || error.type === 'node_taken') && isFinal(error)) return err(error);
      await clock.sleep(pause, signal);
    }
    return ok(undefined);
  }

  /** Registers a node that the server no longer knows; only `node_taken` is final. Simultaneous calls share one attempt. */
  async renew(): Promise<Result<void, NotTheAgent>> {
    this.#renewal ??= this.register(this.#options.signal, ({ type }) => type === 'node_taken');
    const renewed = await this.#renewal;
    this.#renewal = undefined;
    return renewed;
  }

  /** Resolves when no new registration is under way. */
  renewed(): Promise<unknown> {
    return Promise.resolve(this.#renewal);
  }

  /** Sends heartbeats until the signal aborts: three per TTL, or per shortest disconnect timeout of an allocation. */
  async beat(): Promise<void> {
    const { link, clock, node, signal, onFailure } = this.#options;
    while (!signal.aborted) {
      this.#nextBeat = new AbortController();
      await clock.sleep(this.#silenceLimit / 3, AbortSignal.any([signal, this.#nextBeat.signal]));
      if (signal.aborted) return;
      const beat = await link.heartbeat(node.ID);
      if (beat.isOk()) this.#heard(beat.value.heartbeatTtl);
      else await onFailure(beat.error);
    }
  }

  /** A disconnect timeout was set or changed: the next heartbeat may be due earlier. */
  reconsiderBeat(): void {
    this.#nextBeat.abort();
  }

  /** For a node that will not return, so that the server does not wait for its heartbeat to expire. */
  async leave(): Promise<void> {
    const { link, logger, node } = this.#options;
    const left = await link.leave(node.ID);
    if (left.isErr())
      logger.warn(
        { error: textOf(left.error) },
        'The node could not deregister; the server marks it down when its heartbeat expires',
      );
  }

  get #silenceLimit(): Milliseconds {
    return Math.min(this.#heartbeatTtl, ...this.#options.disconnectTimeouts());
  }

  #heard(heartbeatTtl: Milliseconds): void {
    this.#heartbeatTtl = heartbeatTtl;
    this.#options.onHeard();
  }
}

function textOf(error: AgentLinkError): string {
  return error.type === 'node_not_found' ? error.type : error.message;
}
