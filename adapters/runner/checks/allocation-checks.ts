import { createHash } from 'node:crypto';
import { healthVerdict, isWell } from '../../../src/agent/checks/allocation-health.js';
import {
  type CheckResult,
  type CheckState,
  checkStateAfter,
  initialCheckState,
  restartIsDue,
  strikesAfter,
  uncheckedState,
} from '../../../src/agent/checks/check-state.js';
import { filledService } from '../../../src/agent/environment/filled-service.js';
import { servicePort } from '../../../src/agent/environment/service-port.js';
import { serviceLookup } from '../../../src/agent/environment/task-environment.js';
import type { Service, ServiceCheck } from '../../../src/jobs/document/service.js';
import type { Task } from '../../../src/jobs/document/task.js';
import { isMeasuredByChecks } from '../../../src/scheduler/deployment/measure-health.js';
import { type Milliseconds, millisecondsFromNanos } from '../../../src/shared/duration.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import type { Surroundings } from '../allocation/surroundings.js';
import type { BriefCommand } from '../commands/run-briefly.js';
import { look } from './look.js';

/** What the checks need of the allocation that they belong to. */
export interface CheckedAllocation {
  /** Whether all required tasks run; `failed` if one never will. */
  tasks(): 'up' | 'coming' | 'failed';
  /** When the present run of a task began, on the monotonic clock; undefined while it does not run. */
  since(task: string | null): Milliseconds | undefined;
  /** Runs a command beside a task; gives its exit code and output. */
  run(task: string, command: readonly string[], timeout: Milliseconds): Promise<BriefCommand>;
  /** A service has failed too often: its task begins again; without a task all that run. */
  restart(task: string | null, reason: string): void;
  /** Health has become known, or has changed. */
  changed(): void;
}

interface Watched {
  readonly id: string;
  readonly service: Service;
  readonly check: ServiceCheck;
  /** Null for services of the group. */
  readonly task: string | null;
  state: CheckState;
  /** Failed runs in a row that count towards a restart. */
  strikes: number;
}

/** Runs the checks of one allocation's services for as long as it runs, and determines its health where checks decide it. */
export class AllocationChecks {
  readonly #work: AllocationWork;
  readonly #surroundings: Surroundings;
  readonly #allocation: CheckedAllocation;
  readonly #watched: readonly Watched[];
  readonly #over = new AbortController();
  readonly #createdAt: Milliseconds;
  #wellSince: Milliseconds | undefined;
  #healthy: boolean | undefined;
  #timer = new AbortController();

  constructor(work: AllocationWork, surroundings: Surroundings, allocation: CheckedAllocation) {
    this.#work = work;
    this.#surroundings = surroundings;
    this.#allocation = allocation;
    this.#watched = watchedChecks(work, surroundings.node);
    this.#createdAt = surroundings.serverTime.moment(work.allocation.CreateTime);
    const known = work.allocation.DeploymentStatus?.Healthy;
    if (typeof known === 'boolean') this.#healthy = known;
  }

  /** The reported health of the allocation: null while it is measured, undefined if this runner does not measure it. */
  get healthy(): boolean | null | undefined {
    if (!this.#isJudge) return undefined;
    return this.#healthy ?? null;
  }

  get #isJudge(): boolean {
    const { allocation, group } = this.#work;
    return allocation.DeploymentID !== undefined && isMeasuredByChecks(group);
  }

  begin(): void {
    for (const watched of this.#watched) this.#surroundings.background.run('a check', this.#keepLooking(watched));
    this.judge();
  }

  end(): void {
    this.#over.abort();
    this.#timer.abort();
  }

  /** The newest result of each check, by ids that stay the same. */
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

  /** Determines the health again, as after a change of a task. */
  judge(): void {
    const update = this.#work.group.Update;
    if (!this.#isJudge || update === null || this.#healthy !== undefined || this.#over.signal.aborted) return;
    const { clock } = this.#surroundings;
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
      await this.#surroundings.clock.sleep(duration, timer.signal);
      if (!timer.signal.aborted) this.judge();
    };
    this.#surroundings.background.run('a deadline of health', wait());
  }

  async #keepLooking(watched: Watched): Promise<void> {
    const { clock } = this.#surroundings;
    const { signal } = this.#over;
    const interval = Math.max(minimumInterval, millisecondsFromNanos(watched.check.Interval));
    // The first run comes soon, so that a service that is up at once is known to be healthy.
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
    const upFor = this.#surroundings.clock.monotonic() - since;
    const result = await this.#look(watched, task);
    if (result === undefined || this.#over.signal.aborted) return;
    // What was seen of a run that has ended meanwhile says nothing of the present one.
    if (this.#allocation.since(task) !== since) return;
    watched.state = checkStateAfter(watched.state, result, check, this.#surroundings.clock.now());
    this.judge();
    watched.strikes = strikesAfter(watched.strikes, result, check, upFor);
    if (!restartIsDue(check, watched.strikes)) return;
    watched.strikes = 0;
    watched.state = { ...uncheckedState, output: result.output, at: watched.state.at };
    this.#allocation.restart(task, `check "${check.Name}" is unhealthy`);
  }

  /** Undefined when the end of the task broke it off. */
  async #look({ service, check }: Watched, task: string | null): Promise<CheckResult | undefined> {
    if (check.Type.toLowerCase() === 'script') {
      const command = [check.Command, ...(check.Args ?? [])];
      const ended = await this.#allocation.run(task ?? '', command, millisecondsFromNanos(check.Timeout));
      if (ended.isBrokenOff) return undefined;
      return { passed: ended.code === 0, output: ended.output, statusCode: 0 };
    }
    const label = check.PortLabel === '' ? service.PortLabel : check.PortLabel;
    const found = servicePort(this.#work.allocation.AllocatedResources, task, label);
    if (found === undefined) return { passed: false, output: `there is no port "${label}"`, statusCode: 0 };
    return look(check, { address: found.address ?? '127.0.0.1', port: found.port });
  }
}

const firstPause = 100;
const minimumInterval = 100;

function watchedChecks(work: AllocationWork, node: Surroundings['node']): readonly Watched[] {
  return [null, ...work.group.Tasks].flatMap((task) => checksOf(work, node, task));
}

/** The checks of a task's services; without a task those of the group's. */
function checksOf(work: AllocationWork, node: Surroundings['node'], task: Task | null): Watched[] {
  const lookup = serviceLookup({ ...work, node, task });
  return ((task ?? work.group).Services ?? []).flatMap((written) => {
    const service = filledService(written, lookup);
    return (service.Checks ?? []).map((check, at) => ({
      // By the names as they are written: what fills their references may change.
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
