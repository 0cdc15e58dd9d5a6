import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import {
  type CheckResult,
  type CheckState,
  checkStateAfter,
  healthVerdict,
  initialCheckState,
  isWell,
  restartIsDue,
  strikesAfter,
  uncheckedState,
} from '../../../src/agent/checks/check-state.js';
import { filledService, serviceLookup, servicePort } from '../../../src/agent/environment/task-environment.js';
import type { Service, ServiceCheck } from '../../../src/jobs/document/service.js';
import type { Task } from '../../../src/jobs/document/task.js';
import { isMeasuredByChecks } from '../../../src/scheduler/deployment/measure-health.js';
import { type Milliseconds, millisecondsFromNanos, timerOf } from '../../../src/shared/duration.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import type { RunnerContext } from '../allocation/runner-context.js';
import type { BriefCommand } from '../commands/run-briefly.js';

/** The parts of an allocation that its checks use. */
export interface CheckedAllocation {
  /** Whether all required tasks run; `failed` if one never will. */
  tasks(): 'up' | 'coming' | 'failed';
  /** When the task's current run started, on the monotonic clock; undefined while it is not running. */
  since(task: string | null): Milliseconds | undefined;
  /** Runs a command in a task's environment; returns its exit code and output. */
  run(task: string, command: readonly string[], timeout: Milliseconds): Promise<BriefCommand>;
  /** Called when a check failed too often: restarts its task, or without a task all running tasks. */
  restart(task: string | null, reason: string): void;
  /** Called when the health was determined or has changed. */
  changed(): void;
}

interface Watched {
  readonly id: string;
  readonly service: Service;
  readonly check: ServiceCheck;
  /** Null for a group service. */
  readonly task: string | null;
  state: CheckState;
  /** Consecutive failures that count towards a restart. */
  strikes: number;
}

/** Runs the service checks of one allocation while it runs, and determines its health if checks decide it. */
export class AllocationChecks {
  readonly #work: AllocationWork;
  readonly #context: RunnerContext;
  readonly #allocation: CheckedAllocation;
  readonly #watched: readonly Watched[];
  readonly #over = new AbortController();
  readonly #createdAt: Milliseconds;
  #wellSince: Milliseconds | undefined;
  #healthy: boolean | undefined;
  #timer = new AbortController();

  constructor(work: AllocationWork, context: RunnerContext, allocation: CheckedAllocation) {
    this.#work = work;
    this.#context = context;
    this.#allocation = allocation;
    this.#watched = [null, ...work.group.Tasks].flatMap((task) => checksOf(work, context.node, task));
    this.#createdAt = context.serverTime.moment(work.allocation.CreateTime);
    const known = work.allocation.DeploymentStatus?.Healthy;
    if (typeof known === 'boolean') this.#healthy = known;
  }

  /** The health to report: null while undetermined, undefined if this runner does not determine it. */
  get healthy(): boolean | null | undefined {
    if (!this.#isJudge) return undefined;
    return this.#healthy ?? null;
  }

  get #isJudge(): boolean {
    const { allocation, group } = this.#work;
    return allocation.DeploymentID !== undefined && isMeasuredByChecks(group);
  }

  begin(): void {
    for (const watched of this.#watched) this.#context.background.run('a check', this.#keepLooking(watched));
    this.judge();
  }

  end(): void {
    this.#over.abort();
    this.#timer.abort();
  }

  /** The latest result of each check, by stable IDs. */
  results(): Readonly<Record<string, unknown>> {
    const { allocation } = this.#work;
    return Object.fromEntries(
      this.#watched.map(({ id, service, check, task, state }) => [
        id,
        {
          ID: id,
          Check: check.Name,
          Group: allocation.Name,
          Mode: check.OnUpdate === 'ignore' ? 'readiness' : 'healthiness',
          Output: state.output,
          Service: service.Name,
          ...(task === null ? {} : { Task: task }),
          Status: state.status,
          ...(state.statusCode === 0 ? {} : { StatusCode: state.statusCode }),
          Timestamp: Math.floor(state.at / 1000),
        },
      ]),
    );
  }

  /** Determines the health again, for example after a task changed. */
  judge(): void {
    const update = this.#work.group.Update;
    if (!this.#isJudge || update === null || this.#healthy !== undefined || this.#over.signal.aborted) return;
    const { clock } = this.#context;
    const now = clock.monotonic();
    const checks = this.#watched
      .filter(({ check }) => check.OnUpdate !== 'ignore')
      .map(({ state: { status } }) => status);
    const tasks = this.#allocation.tasks();
    this.#wellSince = isWell({ tasks, checks }) ? (this.#wellSince ?? now) : undefined;
    const evidence = { tasks, checks, wellSince: this.#wellSince, createdAt: this.#createdAt, now };
    const { healthy, next } = healthVerdict(update, evidence);
    this.#healthy = healthy;
    if (healthy !== undefined) this.#allocation.changed();
    else if (next !== undefined) this.#judgeAfter(next - now);
  }

  #judgeAfter(duration: Milliseconds): void {
    this.#timer.abort();
    const timer = new AbortController();
    this.#timer = timer;
    const wait = async (): Promise<void> => {
      await this.#context.clock.sleep(duration, timer.signal);
      if (!timer.signal.aborted) this.judge();
    };
    this.#context.background.run('health deadline', wait());
  }

  async #keepLooking(watched: Watched): Promise<void> {
    const { clock } = this.#context;
    const { signal } = this.#over;
    const interval = Math.max(minimumInterval, millisecondsFromNanos(watched.check.Interval));
    // The first run comes soon, so that a fast service becomes healthy quickly.
    for (let pause = firstPause; !signal.aborted; pause = interval) {
      await clock.sleep(Math.min(pause, interval), signal);
      if (signal.aborted) return;
      await this.#lookOnce(watched);
    }
  }

  async #lookOnce(watched: Watched): Promise<void> {
    const { check } = watched;
    const task = watched.task ?? (check.TaskName === '' ? null : check.TaskName);
    const since = this.#allocation.since(task);
    if (since === undefined) return;
    const upFor = this.#context.clock.monotonic() - since;
    const result = await this.#runCheck(watched, task);
    if (result === undefined || this.#over.signal.aborted) return;
    // The result belongs to a run that has ended meanwhile.
    if (this.#allocation.since(task) !== since) return;
    watched.state = checkStateAfter(watched.state, result, check, this.#context.clock.now());
    this.judge();
    watched.strikes = strikesAfter(watched.strikes, result, check, upFor);
    if (!restartIsDue(check, watched.strikes)) return;
    watched.strikes = 0;
    watched.state = { ...uncheckedState, output: result.output, at: watched.state.at };
    this.#allocation.restart(task, `check "${check.Name}" is unhealthy`);
  }

  /** Undefined if the end of the task aborted it. */
  async #runCheck({ service, check }: Watched, task: string | null): Promise<CheckResult | undefined> {
    if (check.Type.toLowerCase() === 'script') {
      const command = [check.Command, ...(check.Args ?? [])];
      const ended = await this.#allocation.run(task ?? '', command, millisecondsFromNanos(check.Timeout));
      if (ended.isAborted) return undefined;
      return { passed: ended.code === 0, output: ended.output, statusCode: 0 };
    }
    const label = check.PortLabel === '' ? service.PortLabel : check.PortLabel;
    const found = servicePort(this.#work.allocation.AllocatedResources, task, label);
    if (found === undefined) return { passed: false, output: `the allocation has no port "${label}"`, statusCode: 0 };
    return runCheck(check, { address: found.address ?? '127.0.0.1', port: found.port });
  }
}

const firstPause = 100;
const minimumInterval = 100;

/** The checks of a task's services, or without a task of the group's services. */
function checksOf(work: AllocationWork, node: RunnerContext['node'], task: Task | null): Watched[] {
  const lookup = serviceLookup({ ...work, node, task });
  return ((task ?? work.group).Services ?? []).flatMap((written) => {
    const service = filledService(written, lookup);
    return (service.Checks ?? []).map((check, at) => ({
      // From the uninterpolated names: the values of references may change.
      id: idOf(work.allocation.ID, written.Name, written.Checks?.[at]?.Name, at, task?.Name ?? null),
      service,
      check,
      task: task?.Name ?? null,
      state: initialCheckState(check),
      strikes: 0,
    }));
  });
}

function idOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** The most bytes of a response that are kept as output. */
const maximumOutput = 3 * 1024;

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Runs a check once. Its type is case-insensitive. Never rejects. */
export function runCheck(check: ServiceCheck, endpoint: Endpoint): Promise<CheckResult> {
  const timeout = Math.max(1, millisecondsFromNanos(check.Timeout));
  return check.Type.toLowerCase() === 'http' ? lookByHttp(check, endpoint, timeout) : lookByTcp(endpoint, timeout);
}

function lookByTcp({ address, port }: Endpoint, timeout: number): Promise<CheckResult> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout });
    const end = (passed: boolean, output: string): void => {
      socket.destroy();
      resolve({ passed, output, statusCode: 0 });
    };
    socket.once('connect', () => end(true, 'nomad: tcp ok'));
    socket.once('timeout', () => end(false, `connecting to ${address}:${port} timed out`));
    socket.once('error', (error) => end(false, error.message));
  });
}

/** The beginning of a response as a string, without a truncated last character. */
function outputOf(pieces: readonly Buffer[]): string {
  const text = beginningOf(Buffer.concat(pieces));
  // Invalid UTF-8 bytes become replacement characters of three bytes.
  return beginningOf(Buffer.from(text));
}

function beginningOf(bytes: Buffer): string {
  return new StringDecoder('utf8').write(bytes.subarray(0, maximumOutput));
}

function lookByHttp(check: ServiceCheck, { address, port }: Endpoint, timeout: number): Promise<CheckResult> {
  const make = check.Protocol === 'https' ? secureRequest : request;
  const options = {
    host: address,
    port,
    path: check.Path === '' ? '/' : check.Path,
    method: check.Method === '' ? 'GET' : check.Method,
    headers: Object.fromEntries(Object.entries(check.Header ?? {}).map(([name, values]) => [name, [...values]])),
    rejectUnauthorized: !check.TLSSkipVerify,
    ...(check.TLSServerName === '' ? {} : { servername: check.TLSServerName }),
    agent: false as const,
    signal: AbortSignal.timeout(timerOf(timeout)),
  };
  return new Promise((resolve) => {
    const failed = (error: unknown): void =>
      resolve({ passed: false, output: error instanceof Error ? error.message : 'failed', statusCode: 0 });
    let isAnswered = false;
    try {
      const asked = make(options, (answer) => {
        isAnswered = true;
        const statusCode = answer.statusCode ?? 0;
        const pieces: Buffer[] = [];
        let size = 0;
        const end = (): void =>
          resolve({ passed: statusCode >= 200 && statusCode < 400, output: outputOf(pieces), statusCode });
        answer.on('data', (piece: Buffer) => {
          pieces.push(piece);
          size += piece.length;
          if (size >= maximumOutput) answer.destroy();
        });
        answer.once('close', end);
        answer.once('error', failed);
      });
      asked.on('error', failed);
      // A protocol upgrade (101) emits neither a response nor an error: the request just closes.
      asked.once('close', () => {
        if (!isAnswered) failed(new Error('invalid HTTP response'));
      });
      asked.end(check.Body === '' ? undefined : check.Body);
    } catch (error) {
      failed(error);
    }
  });
}
